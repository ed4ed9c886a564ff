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


class NodeType(StrEnum):
    CONCEPT = "concept"
    ENTITY = "entity"
    CLAIM = "claim"
    INSIGHT = "insight"
    NARRATIVE = "narrative"
    ABSTRACTION = "abstraction"
