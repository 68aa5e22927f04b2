import { type Html, html } from '#api/web/html.ts';
import { findResourcePath, kindOfType } from '#api/web/resource-kinds.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { findReadableNames } from '#domain/search/names-store.ts';
import type { ShownRecord } from '../views.ts';

type Names = ReadonlyMap<string, string>;

/** What the resources of records are called, as far as the visitor may read them now. */
export function readResourceNames(visit: Visit, records: readonly ShownRecord[]): Promise<Names> {
  const idsByKind = new Map<string, string[]>();
  const credentials = records.flatMap(({ credential }) =>
    credential?.type === 'api_key' ? [{ type: 'api_keys', id: credential.id }] : [],
  );
  for (const { type, id } of [...records.map(({ resource }) => resource), ...credentials]) {
    const kind = kindOf(type);
    if (id !== null && kind !== null) idsByKind.set(kind, [...(idsByKind.get(kind) ?? []), id]);
  }
  return findReadableNames(visit.em, visit.principal, idsByKind);
}

/** A member of a team is a person, though a team's members have no page by their id alone. API keys have names and no page. */
function kindOf(type: string): string | null {
  if (type === 'api_keys') return 'api_key';
  return type === 'team_members' ? 'user' : kindOfType(type);
}

/** The resource of a record by its name, which leads to it. What is deleted or hidden has its kind and the end of its id. */
export function renderResource(
  { resource: { type, id }, organization_id: organizationId }: ShownRecord,
  names: Names,
): Html {
  const kind = type.replaceAll('_', ' ');
  if (id === null) return html`${kind}`;
  const name = names.get(id);
  if (name === undefined) return html`${kind} <code class="muted">…${id.slice(-8)}</code>`;
  const path = findResourcePath(type, { id, organizationId });
  const shown = path ? html`<a class="foreign" href="${path}">${name}</a>` : html`<span class="foreign">${name}</span>`;
  return html`${shown} <span class="muted">${kind}</span>`;
}
