import type { z } from 'zod';
import type { HeldNote } from '#api/schedules/pages/held-schedules.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { renderTable } from '#api/web/components/table.ts';
import { renderAge, renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import type { ApiKeyView } from '../views.ts';

type Key = z.input<typeof ApiKeyView>;

const looks = {
  active: { word: 'Active', icon: 'circle-check', tone: 'succeeded' },
  expired: { word: 'Expired', icon: 'hourglass', tone: 'timed-out' },
  revoked: { word: 'Revoked', icon: 'ban', tone: 'canceled' },
} as const;

/**
 * A table of keys with their use and expiry.
 * @param held says which schedules were saved with a key
 * @param paths the forms for an active key; null if there are none
 */
export function renderKeyTable(
  keys: readonly Key[],
  held: HeldNote,
  paths: ((key: Key) => { readonly rotate: string | null; readonly revoke: string }) | null,
): Html {
  return html`<div class="list-panel">${renderTable({
    caption: 'API keys',
    rows: keys,
    rowId: ({ id }) => `key-${id}`,
    columns: [
      {
        label: 'Name',
        kind: 'main',
        cell: ({ name, hint }) => html`<span class="foreign">${name}</span> <code class="muted">…${hint}</code>`,
      },
      { label: 'State', cell: ({ state }) => renderStatusBadge(looks[state]) },
      { label: 'Last used', cell: ({ last_used_at: used }) => (used ? renderAge(used) : 'never') },
      { label: 'Expires', cell: ({ expires_at: until }) => (until ? renderTime(until) : 'never') },
      { label: 'Starts', cell: ({ id }) => held(id, { one: '', many: '' }) },
      { label: 'Created', kind: 'minor', cell: ({ created_at: since }) => renderTime(since) },
      { label: 'Actions', cell: (key) => (paths && key.state === 'active' ? renderLinks(key, paths(key)) : null) },
    ],
  })}</div>`;
}

function renderLinks({ name }: Key, { rotate, revoke }: { rotate: string | null; revoke: string }): Html {
  const link = (path: string, verb: string) =>
    html`<a class="button button-small" href="${path}">${verb}<span class="unseen"> the key ${name}</span></a>`;
  return html`<div class="row-actions">${rotate ? link(rotate, 'Rotate') : null}${link(revoke, 'Revoke')}</div>`;
}
