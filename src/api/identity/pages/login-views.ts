import { docsPath } from '#api/edge/docs/docs.ts';
import { renderAlert, renderStatus } from '#api/web/components/alerts.ts';
import { renderTime } from '#api/web/components/time.ts';
import { renderField } from '#api/web/forms/sign-in-fields.ts';
import { type Html, html } from '#api/web/html.ts';
import type { Page } from '#api/web/layout.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Principal } from '#domain/shared/access/principal.ts';

export interface SignInForm {
  /** The address that was typed. A typed password is never shown again. */
  readonly email?: string;
  /** The path to redirect to after signing in. */
  readonly next: string | null;
  /** The problem of the form as a whole. */
  readonly alert?: string;
  /** The problems of single fields. */
  readonly fields?: { readonly email?: string; readonly password?: string };
  /** A message about what has just happened. */
  readonly status?: string | null;
  /** The visitor's session has ended. If something that they typed was kept, a script says so. */
  readonly hasEnded?: boolean;
  /** The settings' notice for everybody who signs in. */
  readonly notice?: string | null;
}

const alertId = 'problem';
const maxEmailLength = 254;

/** Renders the notice. Each of its lines becomes a paragraph. */
function renderNotice(notice: string): Html {
  const lines = notice.split('\n').filter((line) => line.trim() !== '');
  return html`<div class="stack" role="note" aria-label="Notice">${lines.map((line) => html`<p class="foreign">${line}</p>`)}</div>`;
}

/** The sign-in form. The focus is on the first field that is still empty. */
export function signInPage(form: SignInForm): Page {
  const { email = '', next, alert, fields = {}, status, hasEnded, notice } = form;
  const passwordFirst = email !== '' && !fields.email;
  return {
    title: 'Sign in',
    isBare: true,
    hasProblem: alert !== undefined || Object.keys(fields).length > 0,
    main: html`<section class="card" aria-labelledby="title">
<h1 id="title">Sign in</h1>
<p class="lede">Planned, approved, on record.</p>
${notice ? renderNotice(notice) : null}
${status ? renderStatus(status) : null}
${hasEnded ? renderStatus(html`<span>Your session has ended. <span data-kept-note hidden>What you typed is kept, except for passwords and secrets.</span></span>`) : null}
${alert ? renderAlert(alertId, alert) : null}
<form class="form" method="post" action="${pagePath(pages.login)}" novalidate>
${next ? html`<input type="hidden" name="next" value="${next}">` : null}
${renderField({
  name: 'email',
  label: 'E-mail address',
  type: 'email',
  autocomplete: 'username',
  value: email.slice(0, maxEmailLength),
  problem: fields.email,
  isFirst: !passwordFirst,
})}
${renderField({
  name: 'password',
  label: 'Password',
  type: 'password',
  autocomplete: 'current-password',
  problem: fields.password,
  describedBy: alert && alertId,
  isFirst: passwordFirst,
})}
<button class="button button-primary" type="submit">Sign in</button>
</form>
<p class="aside">Automation does not sign in: it sends an API key with each request.</p>
</section>`,
  };
}

/** The page for a visitor who is already signed in, with links to continue and to sign out. */
export function signedInPage({ name, email, role }: Principal, expiresAt: string, next: string | null): Page {
  return {
    title: 'You are signed in',
    main: html`<section class="card" aria-labelledby="title">
<h1 id="title">You are signed in</h1>
<dl class="facts">
<dt>Name</dt><dd>${name}</dd>
<dt>E-mail</dt><dd>${email}</dd>
<dt>Role</dt><dd>${role}</dd>
<dt>Session ends</dt><dd>${renderTime(expiresAt)}</dd>
</dl>
<a class="button button-primary" href="${next ?? docsPath}">${next ? 'Continue' : 'Go to the API reference'}</a>
<a class="button" href="${pagePath(pages.profile)}">Your profile</a>
<form method="post" action="${pagePath(pages.logout)}"><button class="button" type="submit">Sign out</button></form>
</section>`,
  };
}

/** Shown in place of the form if the browser would drop the session cookie and send the password unencrypted. */
export function unencryptedPage(): Page {
  return {
    title: 'Sign in',
    isBare: true,
    main: html`<section class="card" aria-labelledby="title">
<h1 id="title">Sign in</h1>
${renderAlert(alertId, 'This address is not encrypted, so you cannot sign in here.')}
<p>Open the service by its <code>https</code> address, or on the machine it runs on by <code>localhost</code>.</p>
<p class="aside">The operator configures that address as <code>COORDINATOR_BASE_URL</code>.</p>
</section>`,
  };
}
