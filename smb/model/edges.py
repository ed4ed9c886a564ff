"""The ten edge types and the six node types of the graph. A closed vocabulary: nothing else is ever stored."""

from __future__ import annotations

from enum import StrEnum


class EdgeType(StrEnum):
    REFERENCES = "references"
    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    EXTENDS = "extends"
    DERIVES_FROM = "derives_from"
    INSPIRED_BY = "inspired_by"
    EVOLVES_INTO = "evolves_into"
    RELATED_TO = "related_to"
    CONTAINS = "contains"
    EXPLAINS = "explains"


SEEN_FROM_THE_TARGET: dict[EdgeType, str] = {
    EdgeType.REFERENCES: "referenced_by",
    EdgeType.SUPPORTS: "supported_by",
    EdgeType.CONTRADICTS: "contradicted_by",
    EdgeType.EXTENDS: "extended_by",
    EdgeType.DERIVES_FROM: "source_of",
    EdgeType.INSPIRED_BY: "inspiration_of",
    EdgeType.EVOLVES_INTO: "evolved_from",
    EdgeType.RELATED_TO: "related_to",
    EdgeType.CONTAINS: "part_of",
    EdgeType.EXPLAINS: "explained_by",
}


class NodeType(StrEnum):
    CONCEPT = "concept"
    ENTITY = "entity"
    CLAIM = "claim"
    INSIGHT = "insight"
    NARRATIVE = "narrative"
    ABSTRACTION = "abstraction"
