"""Which category a heading leads to.

The rule: a heading that has one of a category's words, in any of the languages
below, leads to that category; where words of several stand in it, the category
first in this table wins. A heading without any is a category of its own, as it
is written. Words are compared without case, and as beginnings, so that "rule"
is in "Rules" too (but a word with "!" here only as a whole); those of scripts
without spaces may stand anywhere.
"""

from __future__ import annotations

import re

from muralkit.glyphs.clean import clean

WORDS: dict[str, str] = {
    "NAMING": """
        naming name names terminolog glossar vocabular jargon
        namen benennung bezeichnung begriff
        nommage nomenclature terminologie
        nombres nomenclatura terminología
        nomi denominazion nomes terminologia
        именован назван термин глоссар
        命名 术语 名称 用語 名前 명명 용어 이름
        """,
    "CONFIG_VALUES": """
        config setting environment variable env port! ports! flag option default
        konfiguration einstellung umgebung standardwert
        configuration paramètre réglage environnement
        configuración ajuste parámetro entorno
        configurazion impostazion configuraç parâmetro ambiente
        настройк конфигурац параметр переменн окружени
        配置 设置 环境变量 設定 環境変数 설정 환경
        """,
    "CONSTRAINTS": """
        constraint limit restriction gotcha pitfall caveat warning known security forbidden never
        einschränkung grenze beschränkung fallstrick warnung bekannte sicherheit verbot
        contrainte limite piège avertissement sécurité
        restriccion restricción límite advertencia seguridad prohib
        vincol avvertenz restriç limitaç
        ограничени запрет предупрежден безопасност
        约束 限制 注意 禁止 安全 制約 制限 注意点 제약 제한 주의 금지
        """,
    "ARCHITECTURE": """
        architect structure design overview component module layout stack
        architektur struktur aufbau entwurf überblick komponente
        architecture conception aperçu composant
        arquitectura estructura diseño componente
        architettura struttura arquitetura estrutura
        архитектур структур устройств обзор компонент
        架构 结构 设计 概述 アーキテクチャ 構成 構造 設計 아키텍처 구조 설계
        """,
    "PROJECT_RULES": """
        rule convention guideline guide practice policy style workflow process standard principle
        instruction commit review test must preference
        regel richtlinie konvention vorgabe arbeitsweise grundsatz anweisung
        règle consigne directive
        regla normas convencion guía
        regole convenzion regra convenç diretriz
        правил соглашени рекомендаци стандарт процесс
        规则 规范 约定 准则 流程 規則 規約 ルール 方針 규칙 규약 지침 컨벤션
        """,
}

DEFAULT_CATEGORY = "PROJECT_RULES"
"""Where a note has no heading over it: what people write down first are rules."""

LONGEST = 60  # characters of a heading that are kept as a category

_SPACELESS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def _pattern(words: str) -> re.Pattern[str]:
    anywhere = [re.escape(word) for word in words.split() if _SPACELESS.search(word)]
    beginnings = [
        re.escape(word[:-1]) + r"\b" if word.endswith("!") else re.escape(word)
        for word in words.split()
        if not _SPACELESS.search(word)
    ]
    return re.compile(rf"\b(?:{'|'.join(beginnings)})|{'|'.join(anywhere)}", re.IGNORECASE)


_PATTERNS = {category: _pattern(words) for category, words in WORDS.items()}


def known_category(heading: str) -> str | None:
    """The category of the five that a heading leads to, or None."""
    if heading.strip() in WORDS:
        return heading.strip()
    spaced = heading.replace("_", " ").casefold()
    return next((name for name, words in _PATTERNS.items() if words.search(spaced)), None)


def category(headings: list[str]) -> str:
    """The category of what stands under these headings, the outermost first.

    The innermost heading that leads to one of the five decides; without one, the
    innermost heading is the category.
    """
    for heading in reversed(headings):
        known = known_category(heading)
        if known:
            return known
    own = clean(headings[-1])[0] if headings else ""
    return own[:LONGEST].strip() or DEFAULT_CATEGORY
