import { type Html, html } from '#api/web/html.ts';
import { findResourcePath, kindOfType } from '#api/web/resource-kinds.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { findReadableNames } from '#domain/search/names-store.ts';
import type { ShownRecord } from '../views.ts';

type Names = ReadonlyMap<string, string>;

/** Reads the names of the resources of records, as far as the visitor may read them now. */
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

/** The kind of a resource on pages. A member of a team is shown as a person. API keys have names but no page. */
function kindOf(type: string): string | null {
  if (type === 'api_keys') return 'api_key';
  return type === 'team_members' ? 'user' : kindOfType(type);
}

/** The resource of a record: its name, as a link. For a deleted or hidden resource, its kind and the end of its id. */
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
