import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerError } from '#api/edge/errors/error-answers.ts';
import { fieldProblems, readForm } from '#api/web/forms.ts';
import { seeOther, sendPage } from '#api/web/layout.ts';
import { type PageContext, runForPage } from '#api/web/page-operations.ts';
import type { AddPage } from '#api/web/page-route.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { toFieldProblem } from '#api/web/text.ts';
import { findPasswordReset } from '#domain/identity/passwords/resets.ts';
import { invalidField, WrongSecret } from '#domain/shared/errors.ts';
import { redeemReset } from './password-operations.ts';
import { deadLinkPage, passwordResetPage } from './password-reset-views.ts';

/** Adds the pages of a password reset link. */
export function registerPasswordReset(addPage: AddPage, context: PageContext): void {
  addPage(`GET ${pages.passwordReset}`, (request, reply) => {
    const { token } = request.query as Readonly<Record<string, unknown>>;
    return showForm(context, request, reply, typeof token === 'string' ? token : '');
  });
  addPage(`POST ${pages.passwordReset}`, (request, reply) => submitForm(context, request, reply));
}

/** Shows the form of a valid link. An invalid one is refused here already, before the user has chosen a password. */
async function showForm(
  { services }: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
  { status = 200, problems = {} }: { status?: number; problems?: Readonly<Record<string, string>> } = {},
): Promise<FastifyReply> {
  try {
    const find = () => findPasswordReset(services.orm.em.fork(), token);
    const { email } = await request.server.limitGuesses(request, 'password reset', find);
    return await sendPage(reply, status, passwordResetPage({ token, email, problems }));
  } catch (error) {
    if (!(error instanceof WrongSecret)) throw error;
    return sendPage(reply, 404, deadLinkPage());
  }
}

async function submitForm(context: PageContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { token, new_password, confirm_password, revoke_api_keys } = readForm(request.body, [
    ...(['token', 'new_password', 'confirm_password', 'revoke_api_keys'] as const),
  ]);
  try {
    if (new_password !== confirm_password) throw invalidField('confirm_password', 'must be the new password once more');
    await runForPage(context, request, reply, redeemReset, {
      body: { token, new_password, revoke_api_keys: revoke_api_keys === 'yes' },
    });
  } catch (error) {
    if (error instanceof WrongSecret) return sendPage(reply, 404, deadLinkPage());
    const problems = fieldProblems(error, ['new_password', 'confirm_password']);
    if (!problems) throw error;
    const sentences = Object.entries(problems).map(([name, text]) => [name, toFieldProblem(text)]);
    const { status } = answerError(error, request);
    return showForm(context, request, reply, token, { status, problems: Object.fromEntries(sentences) });
  }
  return seeOther(reply, pagePath(pages.login, {}, { password_reset: 'yes' }));
}
