import type { z } from 'zod';
import type { HeldNote } from '#api/schedules/pages/held-schedules.ts';
import { renderTime } from '#api/web/components/time.ts';
import { renderCheckbox, renderField } from '#api/web/forms/sign-in-fields.ts';
import { type Html, html } from '#api/web/html.ts';
import type { Page } from '#api/web/layout.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { capitalize } from '#api/web/text.ts';
import type { SessionView } from '../session-operations.ts';
import { describeAgent } from '../user-agent.ts';
import type { UserView } from '../user-views.ts';
import type { ApiKeyView } from '../views.ts';

/** The problem of each field, by the field's name. */
export type Problems = Readonly<Record<string, string>>;

type Session = z.input<typeof SessionView>;
type Key = z.input<typeof ApiKeyView>;

/** The newest items of a list. */
interface Newest<Item> {
  readonly items: readonly Item[];
  readonly areAll: boolean;
}

export interface Profile {
  readonly user: z.input<typeof UserView>;
  readonly sessions: Newest<Session>;
  readonly keys: Newest<Key>;
  /** Which schedules were saved in a session or with a key. */
  readonly held: HeldNote;
  readonly confirmation: Html | null;
  readonly problems: Problems;
  readonly typed: Readonly<Record<string, string>>;
}

export function profilePage(profile: Profile): Page {
  const { user, confirmation, problems } = profile;
  return {
    title: 'Your profile',
    hasProblem: Object.keys(problems).length > 0,
    main: html`<div class="page">
<header class="page-head">
<div>
<h1>Your profile</h1>
<p class="muted">${user.email} · ${user.role && capitalize(user.role)}</p>
</div>
<form method="post" action="${pagePath(pages.logout)}"><button class="button" type="submit">Sign out</button></form>
</header>
${confirmation}
${renderSection('details', 'Details', 'How others see you. Your role is set by an administrator.', renderDetails(profile))}
${renderSection(
  'password',
  'Password',
  'At least 8 characters, and not a common password. Changing it ends all your other sessions.',
  renderPasswordForm(profile),
)}
${renderSection('sessions', 'Sessions', 'Where you are signed in. A session lasts 24 hours.', renderSessions(profile))}
${renderSection('keyboard', 'Keyboard', 'Keyboard shortcuts in this browser.', keysSetting)}
${renderSection('api-keys', 'API keys', 'For automation, which sends a key with each request in the header X-API-Key.', renderKeys(profile))}
</div>`,
  };
}

function renderSection(id: string, title: string, explanation: string, content: Html): Html {
  return html`<section class="section" aria-labelledby="${id}">
<div class="section-head">
<h2 id="${id}">${title}</h2>
<p class="muted">${explanation}</p>
</div>
<div class="panel">${content}</div>
</section>`;
}

function renderDetails({ user, problems, typed }: Profile): Html {
  return html`<form class="form" method="post" action="${pagePath(pages.profile)}" novalidate>
${renderField({
  name: 'name',
  label: 'Name',
  type: 'text',
  autocomplete: 'name',
  value: typed['name'] ?? user.name,
  problem: problems['name'],
  isFirst: 'name' in problems,
})}
${renderField({
  name: 'email',
  label: 'E-mail address',
  type: 'email',
  autocomplete: 'email',
  value: typed['email'] ?? user.email,
  problem: problems['email'],
  isFirst: firstOf(problems) === 'email',
})}
${user.email_verified ? null : html`<p class="muted">This address is not confirmed. Until it is, you cannot accept invitations.</p>`}
<button class="button" type="submit">Save details</button>
</form>`;
}

const passwordFields = [
  ['current_password', 'Current password', 'current-password'],
  ['new_password', 'New password', 'new-password'],
  ['confirm_password', 'Confirm new password', 'new-password'],
] as const;

function renderPasswordForm({ user, problems }: Profile): Html {
  const first = firstOf(problems);
  return html`<form class="form" method="post" action="${pagePath(pages.profilePassword)}" novalidate>
<input type="email" name="username" value="${user.email}" autocomplete="username" hidden disabled>
${passwordFields.map(([name, label, autocomplete]) =>
  renderField({
    name,
    label,
    autocomplete,
    type: 'password',
    problem: problems[name],
    isFirst: first === name,
  }),
)}
${renderCheckbox({ name: 'revoke_api_keys', label: 'Also revoke all my API keys' })}
<button class="button button-primary" type="submit">Change password</button>
</form>`;
}

function firstOf(problems: Problems): string | undefined {
  return ['name', 'email', ...passwordFields.map(([name]) => name)].find((name) => name in problems);
}

function renderSessions({ sessions: { items, areAll }, held }: Profile): Html {
  return html`<ul class="rows">${items.map(
    ({ id, current, address, user_agent: agent, created_at: since, expires_at: until }) => html`<li class="row">
<div class="row-text">
<p class="row-title">${describeAgent(agent ?? null)}${current ? html` <span class="badge">This session</span>` : null}</p>
<p class="muted">${address ? html`${address} · ` : null}since ${renderTime(since)} · ends ${renderTime(until)}</p>
${renderHeld(held(id, savedInSession))}</div>
${current ? null : renderRevocation(pagePath(pages.revokeSession, { id }), 'End', `the session of ${describeAgent(agent ?? null)}`)}
</li>`,
  )}${areAll ? null : olderOnes}</ul>`;
}

function renderKeys({ keys: { items, areAll }, held }: Profile): Html {
  const kept = items.filter(({ state }) => state !== 'revoked');
  if (kept.length === 0 && areAll)
    return html`<div class="stack"><p class="muted">No API keys.</p><div>${newKey}</div></div>`;
  return html`<div class="stack"><ul class="rows">${kept.map(
    ({ id, name, hint, state, created_at: since, expires_at: until, last_used_at: used }) => html`<li class="row">
<div class="row-text">
<p class="row-title">${name} <code class="muted">…${hint}</code>${state === 'expired' ? html` <span class="badge">Expired</span>` : null}</p>
<p class="muted">since ${renderTime(since)} · ${used ? html`last used ${renderTime(used)}` : 'never used'}${
      until ? html` · ${state === 'expired' ? 'expired' : 'expires'} ${renderTime(until)}` : null
    }</p>
${renderHeld(held(id, state === 'active' ? savedWithKey : savedWithEndedKey))}</div>
<div class="row-actions">${
      state === 'active'
        ? html`<a class="button button-small" href="${pagePath(pages.rotateApiKey, { id })}">Rotate<span class="unseen"> the key ${name}</span></a>`
        : null
    }${renderRevocation(pagePath(pages.revokeApiKey, { id }), 'Revoke', `the key ${name}`)}</div>
</li>`,
  )}${areAll ? null : olderOnes}</ul><div>${newKey}</div></div>`;
}

const newKey = html`<a class="button" href="${pagePath(pages.profileApiKeys)}">New API key</a>`;

const savedInSession = {
  one: 'was saved in it, and goes on when it ends',
  many: 'were saved in it, and go on when it ends',
} as const;
const savedWithKey = {
  one: 'was saved with it, and starts nothing when it ends',
  many: 'were saved with it, and start nothing when it ends',
} as const;
const savedWithEndedKey = {
  one: 'was saved with it, and starts nothing any more',
  many: 'were saved with it, and start nothing any more',
} as const;

function renderHeld(note: Html | null): Html | null {
  return note && html`<p>${note}</p>\n`;
}

/** A script fills this box in, because the browser stores the setting. */
const keysSetting = html`<label class="choice"><input type="checkbox" data-setting="single-keys" checked disabled> <span>Keyboard shortcuts</span></label>
<p class="muted">Such as <kbd>j</kbd> and <kbd>k</kbd> for rows, <kbd>/</kbd> for the search, and <kbd>?</kbd> for all of them. Turn them off if you use speech input. The setting is kept in this browser.</p>`;

const olderOnes = html`<li class="row muted">Older keys are listed by the API.</li>`;

function renderRevocation(action: string, verb: string, what: string): Html {
  return html`<form method="post" action="${action}">
<button class="button button-small" type="submit">${verb}<span class="unseen"> ${what}</span></button>
</form>`;
}
