import type { z } from 'zod';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { renderAge, renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import type { EnvironmentView, ListedEnvironmentView } from '../views.ts';

export type Environment = z.input<typeof EnvironmentView>;
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
  if (required === 0 || when === 'never') return 'Applies wait for nobody.';
  const people = required === 1 ? 'One person approves' : `${required} people approve`;
  const who = allowSelf ? 'Whoever asked may be one of them.' : 'Whoever asked cannot be one of them.';
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

/** What keeps applies from starting, as a sentence; null if nothing does. */
export function renderLock({ lock }: ListedEnvironment): Html | null {
  if (!lock) return null;
  return html`<p class="notice notice-hold">${renderStatusBadge({ word: 'Locked', icon: 'lock', tone: 'approval' })}<span>by ${lock.by.name} ${renderAge(lock.since)}${
    lock.until ? html`, until ${renderTime(lock.until)}` : ', until somebody unlocks it'
  }: <span class="foreign">${lock.reason}</span></span></p>`;
}
