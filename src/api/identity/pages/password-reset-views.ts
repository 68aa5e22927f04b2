import { renderCheckbox, renderField } from '#api/web/forms/sign-in-fields.ts';
import { html } from '#api/web/html.ts';
import type { Page } from '#api/web/layout.ts';
import { pagePath, pages } from '#api/web/paths.ts';

export interface PasswordResetForm {
  readonly token: string;
  /** The address of the user whose password is set. */
  readonly email: string;
  readonly problems: Readonly<Record<string, string>>;
}

/** The first step. A script takes the token out of the address. Without scripts, the user pastes it. */
export function passwordLinkPage(): Page {
  return {
    title: 'Set a new password',
    isBare: true,
    scripts: ['link-token.js'],
    main: html`<section class="card" aria-labelledby="title">
<h1 id="title">Set a new password</h1>
<form class="form" method="post" action="${pagePath(pages.passwordReset)}" novalidate>
<input type="hidden" name="step" value="link">
${renderField({ type: 'password', autocomplete: 'off', name: 'token', label: 'Token' })}
<button class="button button-primary" type="submit">Continue</button>
</form>
<p class="aside">The token is at the end of the link that you were given.</p>
</section>`,
  };
}

export function passwordResetPage({ token, email, problems }: PasswordResetForm): Page {
  const field = { type: 'password', autocomplete: 'new-password' } as const;
  const { new_password: chosen, confirm_password: repeated } = problems;
  return {
    title: 'Set a new password',
    isBare: true,
    hasProblem: Object.keys(problems).length > 0,
    main: html`<section class="card" aria-labelledby="title">
<h1 id="title">Set a new password</h1>
<p class="lede">For ${email}. You will be signed out everywhere.</p>
<form class="form" method="post" action="${pagePath(pages.passwordReset)}" novalidate>
<input type="hidden" name="token" value="${token}">
${renderField({ ...field, name: 'new_password', label: 'New password', problem: chosen, isFirst: !repeated })}
${renderField({
  ...field,
  name: 'confirm_password',
  label: 'Confirm new password',
  problem: repeated,
  isFirst: repeated !== undefined && chosen === undefined,
})}
${renderCheckbox({ name: 'revoke_api_keys', label: 'Also revoke all my API keys' })}
<button class="button button-primary" type="submit">Set password</button>
</form>
<p class="aside">At least 8 characters, and not a common password.</p>
</section>`,
  };
}

export function deadLinkPage(): Page {
  return {
    title: 'This link is no longer valid',
    isBare: true,
    main: html`<section class="card" aria-labelledby="title">
<h1 id="title">This link is no longer valid</h1>
<p>It was used, has expired, or was replaced by a newer one. Ask an administrator for another link.</p>
<a class="button button-primary" href="${pagePath(pages.login)}">Go to sign in</a>
</section>`,
  };
}
