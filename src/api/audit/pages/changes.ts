import { renderTable } from '#api/web/components/table.ts';
import { type Html, html } from '#api/web/html.ts';

/** One value that a record names, by its path, such as `owner.team_id`. */
export interface Change {
  readonly path: string;
  /** Undefined: the record names no such value. */
  readonly before: unknown;
  readonly after: unknown;
}

type Values = Record<string, unknown> | null;

/** The values before and after, by path. Objects are taken apart; lists stay whole, because their items have no names. */
export function listChanges(before: Values, after: Values): Change[] {
  const [old, present] = [flatten(before), flatten(after)];
  const paths = [...new Set([...old.keys(), ...present.keys()])];
  return paths.map((path) => ({ path, before: old.get(path), after: present.get(path) }));
}

function flatten(value: unknown, path = ''): Map<string, unknown> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const members = isObject ? Object.entries(value) : [];
  if (!isObject || (members.length === 0 && path !== '')) return path === '' ? new Map() : new Map([[path, value]]);
  return new Map(members.flatMap(([name, inner]) => [...flatten(inner, path === '' ? name : `${path}.${name}`)]));
}

export function renderChanges(changes: readonly Change[]): Html {
  return html`<div class="list-panel changes">${renderTable({
    caption: 'What changed',
    rows: changes,
    columns: [
      { label: 'Value', kind: 'main', cell: ({ path }) => html`<code class="foreign">${path}</code>` },
      { label: 'Before', cell: ({ before }) => renderValue(before, 'change-before') },
      { label: 'After', cell: ({ after }) => renderValue(after, 'change-after') },
    ],
  })}</div>`;
}

function renderValue(value: unknown, style: string): Html | null {
  if (value === undefined) return null;
  const text = value === null ? 'none' : typeof value === 'string' ? value : JSON.stringify(value);
  return html`<span class="foreign ${style}">${text === '' ? '(empty)' : text}</span>`;
}
