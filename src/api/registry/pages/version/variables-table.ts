import { renderTable } from '#api/web/components/table.ts';
import type { Node } from '#api/web/forms/schema/plan/node.ts';
import { planForm } from '#api/web/forms/schema/plan/plan.ts';
import { isObject } from '#api/web/forms/schema/plan/resolve.ts';
import { describeRules, shorten } from '#api/web/forms/schema/view/hints.ts';
import { type Html, html } from '#api/web/html.ts';
import type { JsonObject } from '#domain/shared/values/json.ts';

const kinds: Readonly<Record<Node['kind'], string>> = {
  text: 'text',
  number: 'number',
  options: 'choice',
  fixed: 'constant',
  many: 'choices',
  object: 'object',
  array: 'list',
  shapes: 'one of several',
  json: 'any',
};

const maxOptions = 8;

/** The schema of a version's variables; an empty one for a version without variables. */
export function schemaOf(spec: Readonly<Record<string, unknown>>): JsonObject {
  return isObject(spec['variables']) ? spec['variables'] : { type: 'object', properties: {} };
}

/** The variables of a version, required ones first. */
export function renderVariables(spec: Readonly<Record<string, unknown>>): Html {
  const { members } = planForm(schemaOf(spec));
  if (members.length === 0) return html`<p class="muted">It has no variables.</p>`;
  const columns = [
    { label: 'Variable', kind: 'main', cell: renderName },
    {
      label: 'Type',
      cell: (node: Node) =>
        html`<span class="nowrap">${typeOf(node)}</span>${node.isSecret ? html` <span class="badge">Secret</span>` : null}`,
    },
    { label: 'Default', cell: renderDefault },
    { label: 'Description', cell: renderMeaning },
  ] as const;
  return html`<div class="list-panel">${renderTable({ caption: 'Variables', columns, rows: members })}</div>`;
}

function renderName(node: Node): Html {
  return html`<code class="foreign">${node.name}</code>${node.isRequired ? html` <span class="badge">Required</span>` : null}${
    node.isDeprecated ? html` <span class="badge">Deprecated</span>` : null
  }`;
}

function typeOf(node: Node): string {
  const { type } = node.schema;
  if (node.kind === 'options' || node.kind === 'many' || node.kind === 'shapes') return kinds[node.kind];
  return typeof type === 'string' ? type : kinds[node.kind];
}

function renderDefault(node: Node): Html | null {
  return node.default === undefined ? null : html`<code class="foreign">${shorten(node.default)}</code>`;
}

function renderMeaning(node: Node): Html | null {
  const text = [node.title, node.description].filter((each) => each !== '' && each !== node.name).join('. ');
  const rules = describeRules(node.schema);
  const options =
    node.kind === 'options' || node.kind === 'many'
      ? `${node.options
          .slice(0, maxOptions)
          .map(({ label }) => label)
          .join(', ')}${node.options.length > maxOptions ? ', …' : ''}`
      : '';
  if (!text && !options && rules.length === 0) return null;
  return html`${text ? html`<span class="foreign">${text}</span>` : null}<span class="below muted"><span class="foreign">${options}</span>${rules.map(
    (rule, index) => html`${index > 0 || options ? ' · ' : null}${rule}`,
  )}</span>`;
}
