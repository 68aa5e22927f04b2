import { createHmac } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Em } from '#database/database.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import { extendReceipt, readOwnReceipt } from '#domain/shared/commands/own-receipts.ts';
import { isId } from '#domain/shared/ids.ts';
import type { LocalPath } from '../paths.ts';
import type { PageServices } from './operations.ts';
import { isSignedIn } from './signed-in.ts';

/** A visit that submits a form. */
interface Sending {
  readonly request: FastifyRequest;
  readonly principal: Principal;
  readonly em: Em;
  readonly context: PageServices;
}

/** A submitted form with its values, and the path to which it redirected. The receipt of its command stores it. */
interface SentForm {
  readonly digest: string;
  readonly path: LocalPath;
}

/**
 * The path to which the visitor was redirected after they had submitted the same form with the same key and values, as a second click on a
 * button does. The repetition redirects there too, even if its subject has changed or no longer exists. Undefined if the form was not
 * carried out yet, or redirected to no page.
 */
export async function findFormerPath(visit: Sending): Promise<LocalPath | undefined> {
  const sent = identify(visit);
  if (!sent) return undefined;
  const receipt = await readOwnReceipt<{ readonly form?: SentForm }>(visit.em, visit.principal, sent.key);
  const form = receipt?.answer?.form;
  return form?.digest === sent.digest ? form.path : undefined;
}

/** Stores the path to which a form redirects, if a command was carried out under its key. */
export async function keepPath(visit: Sending, path: LocalPath): Promise<void> {
  const sent = identify(visit);
  if (!sent) return;
  const form: SentForm = { digest: sent.digest, path };
  try {
    await extendReceipt(visit.em, visit.principal, sent.key, { form });
  } catch (error) {
    // The command is committed, so the visitor must be redirected all the same. If they submit the form again, they learn that its key was
    // used.
    visit.request.log.warn({ err: error }, 'could not keep where a form led');
  }
}

/** The key of a submitted form, and a digest of its address and its values. */
function identify({ request, principal, context }: Sending): { key: string; digest: string } | undefined {
  const { key } = (request.body ?? {}) as { readonly key?: unknown };
  if (request.method !== 'POST' || !isSignedIn(request) || typeof key !== 'string' || !isId(key)) return undefined;
  const digest = createHmac('sha256', context.services.installation.bindingKey)
    .update(canonicalJson(['form', principal.id, request.url, request.body]))
    .digest('base64url');
  return { key, digest };
}
