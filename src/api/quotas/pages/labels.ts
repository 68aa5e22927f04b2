import type { z } from 'zod';
import { type Html, html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import { kindsInBytes, type QuotaKind, scopeNames } from '#domain/shared/vocabulary/quotas.ts';
import type { ListedQuotaView } from '../views.ts';

export type ListedQuota = z.input<typeof ListedQuotaView>;
export type Usage = ListedQuota['usage'][number];

export const kindLabels: Readonly<Record<QuotaKind, string>> = {
  concurrent_runs: 'Concurrent runs',
  queued_runs: 'Queued runs',
  runs_per_day: 'Runs today (UTC)',
  instances: 'Instances',
  templates: 'Templates',
  state_bytes: 'States',
  log_bytes: 'Logs',
  api_keys: 'API keys',
};

/** The owner of a quota, such as "Team Platform". */
export function nameOwner({ scope, name, id }: Pick<ListedQuota, 'scope' | 'name' | 'id'>): string {
  return scope === 'installation' ? 'Installation' : `${scopeNames[scope]} ${name ?? id}`;
}

export function quotaPath({ scope, id }: Pick<ListedQuota, 'scope' | 'id'>): LocalPath {
  return pagePath(pages.quota, { scope, ownerID: id });
}

/** The usage of one kind: in words and, if there is a limit, as a bar. */
export function renderUsage({ kind, limit, used }: Usage): Html {
  if (used === null) return html`<strong>unknown: recount it</strong>`;
  if (limit === null) return html`${showAmount(kind, used)} <span class="muted">not limited</span>`;
  const words = `${showAmount(kind, used)} of ${showAmount(kind, limit)}`;
  const full = used >= limit ? html` <strong>full</strong>` : null;
  const max = Math.max(limit, 1);
  return html`<span class="use">${words}${full} <meter class="meter" min="0" max="${max}" high="${max - 0.5}" optimum="0" value="${Math.min(used, max)}" aria-hidden="true"></meter></span>`;
}

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/** A number. Bytes are shown in the largest unit that gives at least 1. */
export function showAmount(kind: QuotaKind, amount: number): string {
  if (!kindsInBytes.includes(kind)) return String(amount);
  const power = amount < 1024 ? 0 : Math.min(Math.floor(Math.log2(amount) / 10), units.length - 1);
  const value = amount / 1024 ** power;
  return `${power === 0 || Number.isInteger(value) ? value : value.toFixed(1)} ${units[power]}`;
}
