"""The fixed words of reports, in both languages."""

from __future__ import annotations

from expert.errors import Text

# Kinds of lines in a proof.
LINES = {
    "state": Text("state", "状态"),
    "because": Text("because", "因为"),
    "but": Text("but", "但是"),
    "and": Text("and", "并且"),
    "when": Text("when", "条件"),
    "why": Text("why", "原因"),
    "formula": Text("formula", "公式"),
    "numbers": Text("", ""),
    "margin": Text("margin", "余量"),
    "require": Text("require", "要求"),
    "prefer": Text("prefer", "偏好"),
    "concluded": Text("rule says", "规则"),
    "combined": Text("combined", "合并"),
    "otherwise": Text("else", "否则"),
    "constant": Text("constant", "常量"),
    "cell": Text("table", "表格"),
    "source": Text("source", "来源"),
    "dissent": Text("dissent", "异议"),
    "layer": Text("layer", "层"),
    "rule": Text("rule", "规则"),
    "basis": Text("basis", "依据"),
    "assumed": Text("assumed", "假设"),
    "decided": Text("decided by", "决定于"),
    "unknown": Text("unknown", "未知"),
    "silent": Text("unchecked", "未检查"),
    "conflict": Text("conflict", "冲突"),
    "given": Text("given", "已定"),
    "chosen": Text("chosen", "选定"),
    "required": Text("required", "要求"),
    "violated": Text("violated", "违反"),
    "preferred": Text("preferred", "偏好"),
    "decided_by": Text("decided", "取决于"),
    "cost": Text("cost", "成本"),
    "missed": Text("aim missed", "未达目标"),
    "freed": Text("otherwise", "另可"),
    "note": Text("note", "说明"),
    "possible": Text("possible", "可能"),
    "rejected": Text("rejected", "排除"),
    "against": Text("against it", "反对意见"),
    "alternative": Text("next best", "其次"),
    "unproven": Text("unproven", "无法证实"),
    "missing": Text("missing", "缺少"),
    "excluded": Text("excluded", "排除"),
    "free": Text("to free", "可放开"),
    "relax": Text("or drop", "或放弃"),
}
LABEL_WIDTH = 11

SEVERITY = {"error": Text("ERROR", "错误"), "warning": Text("WARNING", "警告"), "info": Text("NOTE", "提示")}
SEVERITY_STYLE = {"error": "red", "warning": "yellow", "info": "blue"}

STATUS = {
    "given": Text("given", "已给定"),
    "recommended": Text("recommended", "推荐"),
    "derived": Text("derived", "推导"),
    "undetermined": Text("undetermined", "未定"),
    "infeasible": Text("nothing fits", "无可行项"),
}
CERTAINTY = {"possible": Text("possible", "可能"), "unproven": Text("unproven", "无法证实")}
TEST_VERDICT = {"met": Text("met", "达标"), "missed": Text("missed", "未达标"), "untested": Text("untested", "未测试")}
LIKELIHOOD = {"low": Text("low", "低"), "medium": Text("medium", "中"), "high": Text("high", "高")}
RISK = {"trigger": Text("comes", "触发"), "impact": Text("harms", "影响"), "mitigation": Text("remedy", "应对")}
STAGE = {
    "before-purchase": Text("before purchase", "采购前"),
    "acceptance": Text("acceptance", "验收"),
    "running": Text("running", "运行中"),
}

HEADINGS = {
    "decisions": Text("Design", "方案"),
    "next": Text("Next best", "次优选择"),
    "findings": Text("Findings", "发现"),
    "needs": Text("Needs", "需求"),
    "estimates": Text("Estimates", "估算"),
    "assumptions": Text("Assumptions", "假设"),
    "not_checked": Text("Not checked", "未检查"),
    "dissent": Text("Where sources disagree", "来源分歧"),
    "tests": Text("Tests", "测试"),
    "risks": Text("Risks", "风险"),
    "why": Text("Why", "理由"),
}
