import type { FastifyReply } from 'fastify';
import { answerError } from '#api/edge/errors/error-answers.ts';
import { page } from '#api/web/declarations/area.ts';
import { isYes } from '#api/web/forms/fields/yes.ts';
import { fieldProblems } from '#api/web/forms/read-form.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { toFieldProblem } from '#api/web/text.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { findPasswordReset } from '#domain/identity/passwords/resets.ts';
import { invalidField, WrongSecret } from '#domain/shared/errors.ts';
import { redeemReset } from '../password-operations.ts';
import { deadLinkPage, passwordLinkPage, passwordResetPage } from './password-reset-views.ts';

/** Shows the first step. The token is behind `#` in the link, so only the browser knows it until the visitor continues. */
function showLink(visit: Visit): Promise<FastifyReply> {
  return visit.show(passwordLinkPage());
}

/** Shows the form of a valid link. An invalid link is refused already here, before the user chooses a password. */
async function showForm(
  visit: Visit,
  token: string,
  { status = 200, problems = {} }: { status?: number; problems?: Readonly<Record<string, string>> } = {},
): Promise<FastifyReply> {
  const { request } = visit;
  try {
    const { email } = await request.server.limitGuesses(request, 'password reset', () =>
      findPasswordReset(visit.em, token),
    );
    return await visit.show(passwordResetPage({ token, email, problems }), status);
  } catch (error) {
    if (!(error instanceof WrongSecret)) throw error;
    return visit.show(deadLinkPage(), 404);
  }
}

async function submitForm(visit: Visit): Promise<FastifyReply> {
  const { token, step, new_password, confirm_password, revoke_api_keys } = visit.form(
    ...(['token', 'step', 'new_password', 'confirm_password', 'revoke_api_keys'] as const),
  );
  if (step === 'link') return showForm(visit, token.trim());
  try {
    if (new_password !== confirm_password)
      throw invalidField('confirm_password', 'must be the same as the new password');
    await visit.run(redeemReset, { body: { token, new_password, revoke_api_keys: isYes(revoke_api_keys) } });
  } catch (error) {
    if (error instanceof WrongSecret) return visit.show(deadLinkPage(), 404);
    const problems = fieldProblems(error, ['new_password', 'confirm_password']);
    if (!problems) throw error;
    const sentences = Object.entries(problems).map(([name, text]) => [name, toFieldProblem(text)]);
    const { status } = answerError(error, visit.request);
    return showForm(visit, token, { status, problems: Object.fromEntries(sentences) });
  }
  return visit.redirect(pagePath(pages.login, {}, { password_reset: 'yes' }));
}

/** The pages of a password reset link. */
export const passwordResetPages = [
  page('GET', pages.passwordReset, showLink, { isPublic: true }),
  page('POST', pages.passwordReset, submitForm, { isPublic: true }),
];
