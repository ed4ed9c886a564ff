"""Values that exclude each other where a thing has one of their kind: databases, languages, colours, ways to send.

Owns lists of co-hyponyms known to everybody. Never says that a thing has one of a kind: that is the sentence's grammar.
"""

from __future__ import annotations

_CLASSES = {
    "database": "postgresql postgres mysql mariadb sqlite oracle mongodb redis cassandra dynamodb cockroachdb duckdb clickhouse couchdb firestore firebird mssql",
    "programming language": "python java javascript typescript rust go golang ruby php perl kotlin swift scala haskell elixir erlang clojure c++ c# f# ocaml elm dart julia lua fortran cobol zig nim bash",
    "editor": "vim neovim emacs helix nano vscode sublime atom notepad++ intellij pycharm eclipse zed",
    "operating system": "linux windows macos ubuntu debian fedora freebsd openbsd android ios alpine centos arch nixos",
    "cloud": "aws azure gcp heroku digitalocean hetzner ovh vercel netlify linode cloudflare",
    "chat": "slack discord teams mattermost zulip irc whatsapp signal telegram",
    "browser": "chrome firefox safari edge brave",
    "web framework": "react vue angular svelte django flask rails laravel symfony fastapi",
    "container": "docker podman kubernetes nomad", "ci": "jenkins circleci travis buildkite",
    "version control": "git mercurial subversion", "message queue": "kafka rabbitmq nats activemq sqs",
    "colour": "red blue green yellow orange purple violet pink brown black white gray grey beige turquoise navy teal cream maroon",
    "way to send": "email e-mail post mail fax courier sms phone letter text",
    "transport": "car train bus bicycle bike plane boat ferry tram subway metro taxi scooter motorcycle foot truck ship rail road sea air",
    "material": "wood steel aluminium aluminum plastic glass concrete brick stone copper brass leather cotton wool silk linen nylon polyester bamboo iron bronze ceramic porcelain paper cardboard "
                "oak pine beech walnut maple birch mahogany granite marble slate",
    "drink": "coffee tea water wine beer juice milk cocoa lemonade whisky vodka", "meat": "beef pork chicken lamb turkey duck fish tofu",
    "fruit": "apple apples pear pears banana cherry cherries plum plums strawberry strawberries raspberry raspberries blueberry lemon lime",
    "dairy": "butter margarine lard", "flour": "wheat rye spelt oat barley rice",
    "instrument": "piano guitar violin cello flute trumpet drums clarinet saxophone viola harp bass organ trombone accordion oboe banjo ukulele",
    "sport": "football soccer tennis basketball hockey rugby cricket golf volleyball baseball badminton handball",
    "place in a row": "upper middle lower front rear",
    "season": "spring summer autumn fall winter", "part of day": "morning afternoon evening night noon",
    "language": "english german french spanish italian portuguese dutch danish swedish norwegian finnish polish russian japanese chinese mandarin korean arabic hebrew turkish greek hindi czech hungarian",
    "city": "berlin paris london madrid rome lisbon vienna zurich geneva munich hamburg cologne frankfurt brussels amsterdam copenhagen stockholm oslo helsinki dublin edinburgh glasgow manchester "
            "liverpool bristol leeds birmingham prague warsaw krakow budapest athens porto barcelona valencia seville milan turin naples florence venice lyon marseille bordeaux nice toulouse "
            "boston chicago seattle denver austin dallas houston atlanta miami toronto montreal vancouver ottawa sydney melbourne tokyo osaka kyoto seoul beijing shanghai delhi mumbai cairo nairobi",
    "country": "germany france spain italy portugal austria switzerland belgium netherlands denmark sweden norway finland ireland scotland england wales poland czechia hungary greece turkey "
               "canada mexico brazil argentina chile peru japan china korea india thailand vietnam australia egypt morocco kenya iceland croatia romania bulgaria estonia latvia lithuania",
    "payment": "cash card paypal cheque invoice", "fuel": "petrol diesel electricity gasoline", "heating": "gas oil wood pellets",
    "licence": "mit gpl apache bsd agpl lgpl mpl isc", "format": "json xml yaml csv toml parquet avro protobuf", "metal": "gold silver platinum titanium",
    "pet": "dog cat hamster rabbit parrot goldfish", "compass": "north south east west", "rank": "junior senior",
    "storey": "basement attic cellar", "blood": "a+ a- b+ b- o+ o- ab+ ab-",
    "place at home": "kitchen bedroom bathroom garage hallway attic cellar basement garden balcony", "weekly": "daily weekly monthly yearly annually hourly quarterly",
    "role at school": "teacher pupil student headmaster", "profession": "nurse doctor teacher lawyer engineer architect plumber electrician carpenter accountant dentist chef journalist librarian baker pilot",
    "protocol": "http https ftp sftp ssh grpc mqtt udp tcp", "encoding": "utf-8 utf-16 latin-1 ascii", "cipher": "aes rsa des chacha20",
}
_CLASS_OF: dict[str, str] = {}
for _name, _line in _CLASSES.items():
    for _value in _line.split():
        _CLASS_OF.setdefault(_value, _name)
_SAME = {"postgres": "postgresql", "golang": "go", "e-mail": "email", "grey": "gray", "bike": "bicycle", "gasoline": "petrol", "soccer": "football", "aluminum": "aluminium", "fall": "autumn",
         "mandarin": "chinese", "metro": "subway", "mail": "post", "letter": "post", "annually": "yearly", "electrical": "electricity", "sms": "text"}


def value_class(word: str) -> str:
    """The kind of value a lower-case word is; "" for a word of no list."""
    return _CLASS_OF.get(word, "")


def values_exclude(one: str, other: str) -> bool:
    """Whether two lower-case words are different values of one kind."""
    return bool(value_class(one)) and value_class(one) == value_class(other) and _SAME.get(one, one) != _SAME.get(other, other)
