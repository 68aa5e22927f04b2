import type { z } from 'zod';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { renderSince, renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import type { RunOptionName } from '#domain/shared/vocabulary/run-options.ts';
import type { EnvironmentDetails as DetailsView, EnvironmentView, ListedEnvironmentView } from '../views.ts';

export type Environment = z.input<typeof EnvironmentView>;
/** A single environment. */
export type EnvironmentDetails = z.input<typeof DetailsView>;
export type ListedEnvironment = z.input<typeof ListedEnvironmentView>;
type Policy = Environment['approval_policy'];

const occasions: Readonly<Record<Policy['when'], string>> = {
  never: 'never',
  destroys: 'if a plan destroys something',
  changes: 'if a plan changes something',
  always: 'if a plan changes something',
};

/** An approval policy as a sentence. */
export function describePolicy({ required, when, allow_self: allowSelf }: Policy): string {
  if (required === 0 || when === 'never') return 'No approval needed.';
  const people = required === 1 ? 'One person approves' : `${required} people approve`;
  const who = allowSelf ? 'The requester may be one of them.' : 'The requester cannot be one of them.';
  return `${people}, ${occasions[when]}. ${who}`;
}

/** The policy in a few words, for a list. */
export function abbreviatePolicy({ required, when }: Policy): string {
  if (required === 0 || when === 'never') return 'none';
  return `${required} for ${when === 'destroys' ? 'destroys' : 'changes'}`;
}

export const kindWords: Readonly<Record<Environment['kind'], string>> = {
  development: 'Development',
  staging: 'Staging',
  production: 'Production',
};

const holdLooks = {
  paused: { word: 'All applies are paused', icon: 'pause', tone: 'approval' },
  locked: { word: 'Locked', icon: 'lock', tone: 'approval' },
  frozen: { word: 'Frozen', icon: 'snowflake', tone: 'approval' },
} as const;

/** Says in a list that applies cannot start now. */
export function renderHoldBadge({ hold }: ListedEnvironment): Html | null {
  if (!hold) return null;
  const { code, name } = hold;
  const word = code === 'paused' ? 'Paused' : holdLooks[code].word;
  return html`${renderStatusBadge({ ...holdLooks[code], word })}${name ? html`<span class="below muted foreign">${name}</span>` : null}`;
}

/** Why applies cannot start now: a pause of the installation, a lock or a freeze window. Null if they can. */
export function renderHold({ hold }: EnvironmentDetails): Html | null {
  if (!hold) return null;
  const { code, by, name, since, until, reason } = hold;
  const who = by
    ? html`by <span class="foreign">${by.name}</span>`
    : html`by the window <span class="foreign">${name}</span>`;
  const end = until
    ? html`until ${renderTime(until)}`
    : code === 'locked'
      ? 'until it is unlocked'
      : 'until applies are resumed';
  return html`<p class="notice notice-hold">${renderStatusBadge(holdLooks[code])}<span>${who} ${renderSince(since)}, ${end}${
    reason ? html`: <span class="foreign">${reason}</span>` : '.'
  }</span></p>`;
}

/** What runs may do with each option. */
export const optionWords: Readonly<Record<RunOptionName, string>> = {
  replace: 'replace resources',
  target: 'target single resources',
  exclude: 'exclude single resources',
  refresh: 'skip the refresh',
  parallelism: 'set the parallelism',
  log_level: 'write a debug log',
};
