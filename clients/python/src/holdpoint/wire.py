# @generated from /openapi.json by `cargo xtask clients`. Do not edit.

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict


class PushKeys(TypedDict, closed=True):
    p256dh: str
    auth: str


class SavedViewBody(TypedDict, closed=True):
    name: str
    query: str
    was: NotRequired[str | None]


class NewSessionBody(TypedDict):
    agent: str
    title: NotRequired[str | None]
    metadata: NotRequired[Any]


File: TypeAlias = str


class SayPart1(TypedDict):
    type: Literal['text']
    text: str
    file: NotRequired[None]


class SayPart2(TypedDict):
    type: Literal['file']
    text: NotRequired[None]
    file: str


SayPart: TypeAlias = SayPart1 | SayPart2


class Cancel(TypedDict):
    reason: NotRequired[str | None]


class Nothing(TypedDict):
    pass


class NewCall(TypedDict, closed=True):
    tool: str
    arguments: dict[str, Any]


class WholeOption(TypedDict, closed=True):
    id: NotRequired[str | None]
    label: str
    description: NotRequired[str | None]


class NewPreview(TypedDict, closed=True):
    diff: NotRequired[str | None]


class AskedAudience(TypedDict, closed=True):
    people: NotRequired[list[str]]
    roles: NotRequired[list[str]]
    quorum: NotRequired[int | None]
    exclude_requester: NotRequired[bool | None]


class NewCallback(TypedDict, closed=True):
    url: str
    secret_env: str


class Answer(TypedDict, closed=True):
    verdict: Literal['approve']
    scope: NotRequired[Literal['once'] | None]
    arguments: NotRequired[dict[str, Any]]
    note: NotRequired[str | None]
    grant: NotRequired[None]


Arg = TypedDict(
    'Arg',
    {
        'equals': NotRequired[Any],
        'not_equals': NotRequired[Any],
        'in': NotRequired[Any],
        'not_in': NotRequired[Any],
        'glob': NotRequired[Any],
        'regex': NotRequired[Any],
        'less_than': NotRequired[Any],
        'at_most': NotRequired[Any],
        'more_than': NotRequired[Any],
        'at_least': NotRequired[Any],
        'exists': NotRequired[Any],
        'contains': NotRequired[Any],
        'length_at_most': NotRequired[Any],
        'length_more_than': NotRequired[Any],
        'pointer': str,
    },
    closed=True,
)


class Grant(TypedDict, closed=True):
    expires_in_s: NotRequired[int | None]
    uses: NotRequired[int | None]
    args: NotRequired[list[Arg] | Literal['any'] | None]


class Answer1(TypedDict, closed=True):
    verdict: Literal['approve']
    scope: Literal['session']
    arguments: NotRequired[dict[str, Any]]
    note: NotRequired[str | None]
    grant: NotRequired[Grant | None]


class Answer2(TypedDict, closed=True):
    verdict: Literal['deny']
    reason: NotRequired[str | None]
    stop: NotRequired[bool | None]


class Answer3(TypedDict, closed=True):
    verdict: Literal['respond']
    content: str


class Answer4(TypedDict, closed=True):
    choose: list[str]


class Answer5(TypedDict, closed=True):
    fill: dict[str, Any]


class Perform(TypedDict, closed=True):
    content: str
    is_error: NotRequired[bool | None]


class Answer6(TypedDict, closed=True):
    perform: Perform


class Answer7(TypedDict, closed=True):
    settle: Literal['succeeded', 'failed', 'retry']
    content: NotRequired[str | None]


class OneAnswer(TypedDict, closed=True):
    hold: str
    digest: str
    answer: Answer | Answer1 | Answer2 | Answer3 | Answer4 | Answer5 | Answer6 | Answer7


class Answer8(TypedDict, closed=True):
    verdict: Literal['approve']
    scope: NotRequired[Literal['once'] | None]
    arguments: NotRequired[dict[str, Any]]
    note: NotRequired[str | None]
    grant: NotRequired[None]


class Grant1(TypedDict, closed=True):
    expires_in_s: NotRequired[int | None]
    uses: NotRequired[int | None]
    args: NotRequired[list[Arg] | Literal['any'] | None]


class Answer9(TypedDict, closed=True):
    verdict: Literal['approve']
    scope: Literal['session']
    arguments: NotRequired[dict[str, Any]]
    note: NotRequired[str | None]
    grant: NotRequired[Grant1 | None]


class Answer10(TypedDict, closed=True):
    verdict: Literal['deny']
    reason: NotRequired[str | None]
    stop: NotRequired[bool | None]


class Answer11(TypedDict, closed=True):
    verdict: Literal['respond']
    content: str


class Answer12(TypedDict, closed=True):
    choose: list[str]


class Answer13(TypedDict, closed=True):
    fill: dict[str, Any]


class Answer14(TypedDict, closed=True):
    perform: Perform


class Answer15(TypedDict, closed=True):
    settle: Literal['succeeded', 'failed', 'retry']
    content: NotRequired[str | None]


class AnswerBody(TypedDict, closed=True):
    digest: NotRequired[str | None]
    answer: Answer8 | Answer9 | Answer10 | Answer11 | Answer12 | Answer13 | Answer14 | Answer15


class EditBody(TypedDict, closed=True):
    arguments: dict[str, Any]


class CommentBody(TypedDict, closed=True):
    text: str


class SnoozeBody(TypedDict, closed=True):
    until: str


class OutcomeBody(TypedDict, closed=True):
    state: Literal['executing', 'succeeded', 'failed']
    result: NotRequired[Any]


class ChannelTestBody(TypedDict, closed=True):
    channel: str


class ImaginedCallBody(TypedDict, closed=True):
    tool: str
    arguments: dict[str, Any]
    agent: NotRequired[str | None]
    rows: NotRequired[int | None]


class NewToken1(TypedDict, closed=True):
    person: str
    program: NotRequired[None]
    scopes: list[Literal['ask', 'answer', 'run', 'admin']]
    expires_in_s: NotRequired[int | None]
    note: NotRequired[str | None]


class NewToken2(TypedDict, closed=True):
    person: NotRequired[None]
    program: str
    scopes: list[Literal['ask', 'run', 'admin']]
    expires_in_s: NotRequired[int | None]
    note: NotRequired[str | None]


NewToken: TypeAlias = NewToken1 | NewToken2


class NewLogin(TypedDict):
    person: str
    next: NotRequired[str | None]


class McpServerBody(TypedDict):
    server: str


class NewFreeze(TypedDict):
    reason: str


class LinkWanted(TypedDict, closed=True):
    person: str
    next: NotRequired[str | None]


class EventData(TypedDict):
    session: str | None
    at: str
    by: str


class Scenario(TypedDict):
    name: str
    say: str


class PushSubscription(TypedDict):
    id: str
    name: str | None
    language: Literal['en', 'zh']
    at: str


class SavedView(TypedDict):
    name: str
    query: str


class AgentTool(TypedDict):
    name: str
    description: str | None
    effects: str | None


class AskedBy(TypedDict):
    program: str | None
    agent: str | None
    on_behalf_of: str | None


class Call(TypedDict):
    id: str
    tool_use_id: str
    tool: str
    arguments: Any
    effects: Literal['read_only', 'idempotent', 'transactional', 'at_most_once']


class HeadlineAmount(TypedDict):
    unit: str
    count: NotRequired[int | None]
    limit: NotRequired[int | None]
    more: NotRequired[int | None]
    estimated: NotRequired[bool]
    added: NotRequired[int | None]
    removed: NotRequired[int | None]
    method: NotRequired[str | None]


class Span1(TypedDict):
    spaces: int


class Span2(TypedDict):
    code: str
    count: int


Span: TypeAlias = str | Span1 | Span2


Label: TypeAlias = Literal['asks', 'title', 'edit', 'preview', 'rows', 'tool', 'prompt', 'arguments', 'form', 'diff', 'context', 'effects', 'working_directory', 'runs']


Author: TypeAlias = Literal['holdpoint', 'agent', 'program', 'tool', 'person', 'operator']


class Preview(TypedDict):
    summary: str | None
    rows: int | None
    diff: str | None
    warnings: list[str]


class Choice(TypedDict):
    id: str
    label: str
    description: str | None


class Audience(TypedDict):
    people: list[str]
    roles: list[str]
    quorum: int
    exclude_requester: bool
    refuse_made_logins: NotRequired[bool]
    login_makers: NotRequired[list[str]]


class Auth(TypedDict):
    method: Literal['token', 'link', 'login', 'channel', 'door']
    made_by: NotRequired[str | None]
    through: NotRequired[str | None]
    token: NotRequired[str | None]
    channel: NotRequired[str | None]
    message: NotRequired[str | None]
    door: NotRequired[str | None]


class Comment(TypedDict):
    by: str
    at: str
    via: str
    text: str
    mentions: list[str]


class Cancelled(TypedDict):
    by: str
    at: str
    reason: str | None


class Outcome(TypedDict):
    state: Literal['executing', 'succeeded', 'failed', 'unknown']
    result: NotRequired[Any]


class Undelivered(TypedDict):
    channel: str
    to: str
    why: str
    at: str


class Usage(TypedDict):
    turns: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    money: NotRequired[str | None]
    time_s: float


class Part21(TypedDict):
    type: Literal['text']
    text: str


class Part22(TypedDict):
    file: str
    name: str
    mediaType: str
    bytes: int
    digest: str
    width: NotRequired[int | None]
    height: NotRequired[int | None]
    type: Literal['file']


class Part23(TypedDict):
    type: Literal['reasoning']
    text: str


class Part24(TypedDict):
    type: Literal['tool-call']
    toolCallId: str
    toolName: str
    state: Literal['input-streaming', 'input-available', 'approval-requested', 'approval-responded', 'output-available', 'output-error', 'output-denied']
    input: Any
    hold: NotRequired[str | None]


class Part25(TypedDict):
    type: Literal['tool-result']
    toolCallId: str
    toolName: str
    output: str
    isError: bool


Part2: TypeAlias = Part21 | Part22 | Part23 | Part24 | Part25


class MessageFile(TypedDict):
    file: str
    name: str
    mediaType: str
    bytes: int
    digest: str
    width: NotRequired[int | None]
    height: NotRequired[int | None]


class Said(TypedDict):
    run: str
    message: str


class File3(TypedDict):
    id: str
    name: str
    media_type: str
    bytes: int
    digest: str
    width: NotRequired[int | None]
    height: NotRequired[int | None]
    at: str


class SectionCounts(TypedDict):
    expiring_soon: int
    critical: int
    mine: int
    others: int


class FieldFault(TypedDict):
    field: str
    code: Literal['wrong_type', 'missing', 'unexpected', 'not_listed', 'pattern', 'format', 'too_short', 'too_long', 'too_few_items', 'too_many_items', 'too_few_fields', 'too_many_fields', 'too_small', 'not_above', 'too_large', 'not_below', 'not_multiple', 'repeated', 'other']
    bound: NotRequired[float | None]
    types: NotRequired[list[str]]
    name: NotRequired[str | None]


class OutcomeCounts(TypedDict):
    asked: int
    approved: int
    denied: int
    answered: int
    expired: int
    cancelled: int
    open: int


class LastDenial(TypedDict):
    hold: str
    same: bool
    by: str
    by_name: str
    at: str
    reason: str | None


class ConfiguredTool(TypedDict):
    name: str
    description: str
    effects: Literal['read_only', 'idempotent', 'transactional', 'at_most_once']
    agents: list[str]
    two_phase: bool
    place: Literal['server', 'client']
    schema: Any


class Snooze(TypedDict):
    hold: str
    until: str


class ListOfSnooze(TypedDict):
    items: list[Snooze]
    next: str | None


class Secret(TypedDict):
    part: Literal['arguments', 'answer']
    at: str
    value: Any


class GrantModel(TypedDict):
    id: str
    session: str
    tool: str
    covers: str
    args: list[Any] | None
    by: str
    hold: str
    made_at: str
    expires_at: str
    uses_left: int
    revoked: bool


class GrantMatch(TypedDict):
    hold: str
    title: str
    state: Literal['pending', 'approved', 'denied', 'answered', 'expired', 'cancelled']
    agent: str | None
    opened_at: str


class DayFigures(TypedDict):
    day: str
    asked: int
    approved: int
    denied: int
    answered: int
    expired: int
    cancelled: int
    open: int
    automatic: int


class Quantiles(TypedDict):
    p50: int
    p95: int


class PersonFigures(TypedDict):
    person: str
    name: str
    decided: int
    approved: int
    denied: int
    approved_within_1s: int
    waiting_ms: Quantiles | None


class ToolFigures(TypedDict):
    tool: str
    asked: int
    approved: int
    denied: int
    answered: int
    expired: int
    cancelled: int
    open: int


class Identity(TypedDict):
    channel: str
    account: str


class ListOfConfiguredTool(TypedDict):
    items: list[ConfiguredTool]
    next: str | None


class ChannelTrouble(TypedDict):
    hold: str
    to: str
    why: str
    at: str


class ChannelTested(TypedDict):
    sent: bool
    to: str


class AskedPeople(TypedDict):
    roles: list[str]
    people: list[str]
    quorum: int
    exclude_requester: bool
    refuse_made_logins: bool
    expires_in_s: int


RulingChange = TypedDict(
    'RulingChange',
    {
        'tool': str,
        'from': Literal['allow', 'ask', 'deny'],
        'to': Literal['allow', 'ask', 'deny'],
        'rule': str | None,
        'count': int,
        'example': str | None,
    },
)


class Token(TypedDict):
    id: str
    token: NotRequired[str | None]
    person: str | None
    program: str | None
    scopes: list[str]
    minted_by: str
    minted_at: str
    expires_at: str | None
    note: str | None


class Login(TypedDict):
    url: str
    expires_at: str


class McpServerDocument(TypedDict):
    server: str
    url: str
    state: Literal['connected', 'not_connected']
    connected_by: str | None
    connected_at: str | None
    issuer: str | None
    scope: str | None


class McpConnectDocument(TypedDict):
    server: str
    authorize_url: str
    attempt: int
    expires_at: str


class McpAttemptDocument(TypedDict):
    server: str
    state: Literal['pending', 'connected', 'failed']
    why: str | None


class AuditEntry(TypedDict):
    seq: int
    hash: str
    entry: Any


class AuditCheck(TypedDict):
    ok: bool
    at: str
    entries: int | None
    checkpoints: int | None
    head: str | None
    at_entry: int | None
    why: str | None


class Freeze(TypedDict):
    frozen: bool
    by: str | None
    reason: str | None


class Health(TypedDict):
    status: str
    recovering: NotRequired[int | None]


class OauthClientDocument(TypedDict):
    client_id: str
    client_name: str
    client_uri: str
    redirect_uris: list[str]
    grant_types: list[str]
    response_types: list[str]
    token_endpoint_auth_method: str
    application_type: str


class LinkPromised(TypedDict):
    detail: str


class PushBody(TypedDict, closed=True):
    endpoint: str
    keys: PushKeys
    expirationTime: NotRequired[float | None]
    language: NotRequired[str | None]
    name: NotRequired[str | None]


class SayBody1(TypedDict):
    text: str
    parts: NotRequired[list[SayPart]]
    files: NotRequired[list[File] | None]
    while_pending: NotRequired[Literal['queue', 'supersede', 'refuse', 'deliver'] | None]


class SayBody2(TypedDict):
    text: NotRequired[None]
    parts: list[SayPart]
    files: NotRequired[list[File] | None]
    while_pending: NotRequired[Literal['queue', 'supersede', 'refuse', 'deliver'] | None]


class SayBody3(TypedDict):
    text: NotRequired[None]
    parts: NotRequired[list[SayPart]]
    files: list[File]
    while_pending: NotRequired[Literal['queue', 'supersede', 'refuse', 'deliver'] | None]


SayBody: TypeAlias = SayBody1 | SayBody2 | SayBody3


NewOption: TypeAlias = str | WholeOption


class ManyAnswersBody(TypedDict, closed=True):
    answers: list[OneAnswer]


class Me(TypedDict):
    kind: Literal['person', 'program']
    id: str
    name: str
    roles: list[str]
    scopes: list[str]
    csrf: str | None
    demo: list[Scenario] | None
    agents: list[str]
    warnings: list[str]
    frozen: bool


class PushSubscriptions(TypedDict):
    key: str | None
    items: list[PushSubscription]


class ListOfSavedView(TypedDict):
    items: list[SavedView]
    next: str | None


class Agent(TypedDict):
    id: str
    tools: list[AgentTool]


class ForeignText(TypedDict):
    bytes: int
    lines: list[list[Span]]


class Part1(TypedDict):
    type: Literal['fact']
    label: Label
    value: str


class Part7(TypedDict):
    type: Literal['warning']
    by: Author
    text: ForeignText
    code: NotRequired[str | None]
    values: NotRequired[dict[str, Any] | None]


class RunPhrase(TypedDict):
    line: int
    code: str
    values: list[ForeignText]


class Field(TypedDict):
    depth: int
    name: ForeignText | None
    kind: Literal['group', 'text', 'scalar']
    text: ForeignText | None


class PickedOption(TypedDict):
    id: ForeignText
    label: ForeignText
    description: ForeignText | None


class FormField(TypedDict):
    name: ForeignText
    title: ForeignText | None
    description: ForeignText | None
    input: Literal['text', 'number', 'whole_number', 'yes_no', 'list', 'group', 'any']
    choices: list[ForeignText]
    default: ForeignText | None
    required: bool
    secret: bool


class DiffLine(TypedDict):
    sign: Literal['added', 'removed', 'same']
    text: ForeignText


class Answered(TypedDict):
    verdict: NotRequired[str | None]
    choose: NotRequired[list[str] | None]
    fill: NotRequired[Any]
    perform: NotRequired[Any]
    settle: NotRequired[str | None]
    scope: NotRequired[str | None]
    grant_clamped: NotRequired[str | None]
    arguments: NotRequired[Any]
    content: NotRequired[str | None]
    note: NotRequired[str | None]
    reason: NotRequired[str | None]
    stop: NotRequired[bool | None]
    by: str | None
    at: str
    via: str
    auth: NotRequired[Auth | None]
    rule: NotRequired[str | None]
    grant: NotRequired[str | None]
    digest: NotRequired[str | None]
    view: NotRequired[str | None]
    voters: NotRequired[list[str] | None]


class Run(TypedDict):
    id: str
    session: str
    status: Literal['running', 'paused', 'completed', 'failed', 'cancelled', 'queued']
    error: NotRequired[str | None]
    reason: NotRequired[str | None]
    usage: Usage
    stopping_by: NotRequired[str | None]
    blocked: NotRequired[str | None]


class Message(TypedDict):
    id: str
    role: Literal['user', 'assistant', 'tool']
    parts: list[Part2]
    at: str
    origin: NotRequired[str | None]
    by: NotRequired[str | None]


class InboxCounts(TypedDict):
    open: int
    mine: int
    sections: SectionCounts
    decided_today: int
    expiring_within_s: int
    today_since: str
    exact: bool


class RecentCounts(TypedDict):
    days_7: OutcomeCounts
    days_30: OutcomeCounts


class HeldTool(TypedDict):
    tool: ConfiguredTool | None


class Secrets(TypedDict):
    secrets: list[Secret]


class ListOfGrant(TypedDict):
    items: list[GrantModel]
    next: str | None


class GrantMatches(TypedDict):
    grant: str
    since: str
    looked_at: int
    count: int
    matches: list[GrantMatch]
    complete: bool


class Figures(TypedDict):
    days: int
    since: str
    total: OutcomeCounts
    complete: bool
    by_day: list[DayFigures]
    waiting_ms: Quantiles | None
    first_answer_ms: Quantiles | None
    approved_within_1s: int
    people: list[PersonFigures]
    tools: list[ToolFigures]


class ListedPerson(TypedDict):
    id: str
    name: str
    roles: list[str]
    identities: list[Identity]
    tokens: int


class ConfiguredChannel(TypedDict):
    name: str
    platform: str
    talks: bool
    last_errors: list[ChannelTrouble]


class Explained(TypedDict):
    decision: Literal['allow', 'ask', 'deny']
    rule: str | None
    risk: Literal['low', 'medium', 'high', 'critical']
    in_doubt: bool
    ask: AskedPeople | None
    why: list[str]
    facts: str
    known_tool: bool
    refused_by_tool: str | None


class PolicyReplay(TypedDict):
    days: int
    since: str
    policy: str
    calls: int
    same: int
    changes: list[RulingChange]
    complete: bool


class ListOfToken(TypedDict):
    items: list[Token]
    next: str | None


class ListOfMcpServerDocument(TypedDict):
    items: list[McpServerDocument]
    next: str | None


class ListOfAuditEntry(TypedDict):
    items: list[AuditEntry]
    next: str | None


class NewHoldBody1(TypedDict, closed=True):
    kind: Literal['approve']
    title: str
    call: NotRequired[NewCall | None]
    options: NotRequired[list[NewOption]]
    multiple: NotRequired[bool | None]
    allow_other: NotRequired[bool | None]
    schema: NotRequired[None]
    context: NotRequired[Any]
    preview: NotRequired[NewPreview | None]
    audience: NotRequired[AskedAudience | None]
    risk: NotRequired[Literal['low', 'medium', 'high', 'critical'] | None]
    expires_in_s: NotRequired[int | None]
    callback: NotRequired[NewCallback | None]


class NewHoldBody2(TypedDict, closed=True):
    kind: Literal['choose']
    title: str
    call: NotRequired[NewCall | None]
    options: list[NewOption]
    multiple: NotRequired[bool | None]
    allow_other: NotRequired[bool | None]
    schema: NotRequired[None]
    context: NotRequired[Any]
    preview: NotRequired[NewPreview | None]
    audience: NotRequired[AskedAudience | None]
    risk: NotRequired[Literal['low', 'medium', 'high', 'critical'] | None]
    expires_in_s: NotRequired[int | None]
    callback: NotRequired[NewCallback | None]


class NewHoldBody3(TypedDict, closed=True):
    kind: Literal['fill']
    title: str
    call: NotRequired[NewCall | None]
    options: NotRequired[list[NewOption]]
    multiple: NotRequired[bool | None]
    allow_other: NotRequired[bool | None]
    schema: NotRequired[Any]
    context: NotRequired[Any]
    preview: NotRequired[NewPreview | None]
    audience: NotRequired[AskedAudience | None]
    risk: NotRequired[Literal['low', 'medium', 'high', 'critical'] | None]
    expires_in_s: NotRequired[int | None]
    callback: NotRequired[NewCallback | None]


NewHoldBody: TypeAlias = NewHoldBody1 | NewHoldBody2 | NewHoldBody3


class ListOfAgent(TypedDict):
    items: list[Agent]
    next: str | None


class HeadlineTarget(TypedDict):
    role: str
    name: ForeignText | None
    text: ForeignText


class Part2Model(TypedDict):
    type: Literal['quote']
    label: Label
    by: Author
    text: ForeignText
    code: NotRequired[str | None]
    values: NotRequired[dict[str, Any] | None]
    phrases: NotRequired[list[RunPhrase] | None]


class Part3(TypedDict):
    type: Literal['fields']
    label: Label
    by: Author
    fields: list[Field]


class Part4(TypedDict):
    type: Literal['options']
    by: Author
    multiple: bool
    allow_other: bool
    options: list[PickedOption]


class Part5(TypedDict):
    type: Literal['form']
    by: Author
    fields: list[FormField]
    more: bool


class Part6(TypedDict):
    type: Literal['diff']
    label: Label
    by: Author
    lines: list[DiffLine]


Part: TypeAlias = Part1 | Part2Model | Part3 | Part4 | Part5 | Part6 | Part7


class AskedBefore(TypedDict):
    alike: RecentCounts
    same: RecentCounts
    last_denial: LastDenial | None
    complete: bool


class ListOfListedPerson(TypedDict):
    items: list[ListedPerson]
    next: str | None


class ListOfConfiguredChannel(TypedDict):
    items: list[ConfiguredChannel]
    next: str | None


class Headline(TypedDict):
    verb: str
    amount: HeadlineAmount | None
    targets: list[HeadlineTarget]
    stage: Literal['production', 'staging', 'test', 'development'] | None
    effect: Literal['measured', 'estimated', 'parsed', 'elsewhere', 'unknown']
    undo: Literal['changes_nothing', 'cannot_be_undone', 'not_known']
    shell: list[str]
    in_question: bool


class View(TypedDict):
    parts: list[Part]
    text: str
    digest: str


class EditPreview(TypedDict):
    digest: str
    title: str
    risk: Literal['low', 'medium', 'high', 'critical']
    verdict: Literal['allow', 'ask']
    rule: str | None
    audience: Audience
    may_approve: bool
    call: Call | None
    headline: Headline
    preview: Preview
    view: View


class Hold(TypedDict):
    id: str
    version: int
    kind: Literal['approve', 'choose', 'fill', 'perform', 'settle']
    state: Literal['pending', 'approved', 'denied', 'answered', 'expired', 'cancelled']
    risk: Literal['low', 'medium', 'high', 'critical']
    tag: str
    title: str
    agent: str | None
    session: str | None
    run: str | None
    parent: str | None
    requester: str | None
    asked_by: AskedBy
    digest: str
    group: str | None
    call: Call | None
    headline: Headline
    view: View
    two_phase: bool
    preview: Preview
    options: list[Choice]
    multiple: bool
    allow_other: bool
    schema: Any
    context: Any
    rationale: str | None
    audience: Audience
    rule: str | None
    opened_at: str
    expires_at: str | None
    claimed_by: str | None
    claimed_from: NotRequired[str | None]
    answers: list[Answered]
    comment_count: int
    comments: NotRequired[list[Comment] | None]
    mentioned: list[str]
    decision: Answered | None
    cancelled: Cancelled | None
    outcome: Outcome | None
    undelivered: NotRequired[list[Undelivered]]


class Summary(TypedDict):
    id: str
    version: int
    agent: str
    title: str | None
    metadata: Any
    creator: str
    created_at: str
    updated_at: str
    pending: list[Hold]
    run: Run | None


class ListOfHold(TypedDict):
    items: list[Hold]
    next: str | None


class Problem(TypedDict):
    type: str
    title: str
    status: int
    detail: str
    code: str
    field: NotRequired[str | None]
    faults: NotRequired[list[FieldFault]]
    decision: NotRequired[Any]
    hold: NotRequired[Hold | None]
    holds: NotRequired[list[str]]
    unknown: NotRequired[list[str]]
    duplicate: NotRequired[list[str]]
    missing: NotRequired[list[str]]


class Session(TypedDict):
    id: str
    version: int
    agent: str
    title: str | None
    metadata: Any
    creator: str
    created_at: str
    updated_at: str
    pending: list[Hold]
    run: Run | None
    messages: list[Message]
    queued: list[Message]


class ListOfSummary(TypedDict):
    items: list[Summary]
    next: str | None


class AnswerResult(TypedDict):
    hold: str
    status: int
    result: Hold | None
    problem: Problem | None


class ManyAnswers(TypedDict):
    results: list[AnswerResult]
