"""Certificates of the kind ``tour`` as fields of an object."""

from __future__ import annotations

from dfopt.files.branching_document import pair
from dfopt.files.fields import at, boolean, each, fields_of, integer, signed_integer, string
from dfopt.files.strict_json import Document
from dfopt.problem.tour_certificate import ArcFork, ArcWeights, OrderCut, Tour

CUT_KEYS = ("within", "last_of", "first_of")
ARC_KEYS = ("before", "after", "at_most")
WEIGHT_KEYS = ("leaving", "entering", "cuts", "scale", "beginnings")


def tour_from_fields(fields: Document) -> Tour:
    """Return the certificate that the fields of an object describe."""
    return Tour(
        threshold=fields.get("threshold"),
        nodes=each("nodes", string, fields["nodes"]),
        cuts=each("cuts", _cut, fields.get("cuts", [])),
        tree=each("tree", _node, fields["tree"]),
    )


def tour_fields(certificate: Tour) -> Document:
    """Return the fields of a certificate, without its kind."""
    return {
        "threshold": certificate.threshold,
        "nodes": list(certificate.nodes),
        "cuts": [_cut_fields(cut) for cut in certificate.cuts] or None,
        "tree": [_node_fields(node) for node in certificate.tree],
    }


def _cut(row: object) -> OrderCut:
    fields = fields_of(row, CUT_KEYS, required=("within",))
    within, last_of, first_of = (each(key, integer, fields.get(key, [])) for key in CUT_KEYS)
    return OrderCut(within=within, last_of=last_of, first_of=first_of)


def _cut_fields(cut: OrderCut) -> Document:
    lists = {"within": cut.within, "last_of": cut.last_of, "first_of": cut.first_of}
    return {key: list(nodes) for key, nodes in lists.items() if nodes or key == "within"}


def _node(row: object) -> ArcFork | ArcWeights:
    if isinstance(row, dict) and "at_most" in row:
        fields = fields_of(row, ARC_KEYS, required=ARC_KEYS)
        return ArcFork(
            before=at("before", integer, fields["before"]),
            after=at("after", integer, fields["after"]),
            at_most=at("at_most", integer, fields["at_most"]),
        )
    fields = fields_of(row, WEIGHT_KEYS, required=("leaving", "entering"))
    return ArcWeights(
        leaving=each("leaving", signed_integer, fields["leaving"]),
        entering=each("entering", signed_integer, fields["entering"]),
        cuts=each("cuts", pair, fields.get("cuts", [])),
        scale=at("scale", integer, fields.get("scale", 1)),
        beginnings=at("beginnings", boolean, fields.get("beginnings", False)),
    )


def _node_fields(node: ArcFork | ArcWeights) -> Document:
    if isinstance(node, ArcFork):
        return {"before": node.before, "after": node.after, "at_most": node.at_most}
    fields: Document = {"leaving": list(node.leaving), "entering": list(node.entering)}
    if node.cuts:
        fields["cuts"] = [list(row) for row in node.cuts]
    if node.scale != 1:
        fields["scale"] = node.scale
    if node.beginnings:
        fields["beginnings"] = True
    return fields
