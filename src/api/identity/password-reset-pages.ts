import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerError } from '#api/edge/errors/error-answers.ts';
import { fieldProblems, readForm } from '#api/web/forms.ts';
import { seeOther, sendPage } from '#api/web/layout.ts';
import { type AddPage, loginPath } from '#api/web/page-route.ts';
import { type Ground, performCommand } from '#api/web/perform.ts';
import { withoutSubject } from '#api/web/words.ts';
import { findPasswordReset } from '#domain/identity/passwords/resets.ts';
import { invalidField, WrongSecret } from '#domain/shared/errors.ts';
import { redeemReset } from './password-operations.ts';
import { deadLinkPage, passwordResetPage } from './password-reset-views.ts';

/** Where the link leads by which somebody sets a new password. */
export function registerPasswordReset(addPage: AddPage, ground: Ground): void {
  addPage('GET /password-reset', (request, reply) => {
    const { token } = request.query as Readonly<Record<string, unknown>>;
    return showForm(ground, request, reply, typeof token === 'string' ? token : '');
  });
  addPage('POST /password-reset', (request, reply) => submitForm(ground, request, reply));
}

/** A link that leads nowhere says so at once, not after somebody has thought of a password. */
async function showForm(
  { services }: Ground,
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

async function submitForm(ground: Ground, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { token, new_password, confirm_password } = readForm(request.body, [
    ...(['token', 'new_password', 'confirm_password'] as const),
  ]);
  try {
    if (new_password !== confirm_password) throw invalidField('confirm_password', 'must be the new password once more');
    await performCommand(ground, request, reply, redeemReset, { body: { token, new_password } });
  } catch (error) {
    if (error instanceof WrongSecret) return sendPage(reply, 404, deadLinkPage());
    const problems = fieldProblems(error, ['new_password', 'confirm_password']);
    if (!problems) throw error;
    const inWords = Object.entries(problems).map(([name, text]) => [name, withoutSubject(text)]);
    const { status } = answerError(error, request);
    return showForm(ground, request, reply, token, { status, problems: Object.fromEntries(inWords) });
  }
  return seeOther(reply, `${loginPath}?password_reset=yes`);
}
