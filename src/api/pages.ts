import type { FastifyInstance } from 'fastify';
import { docsPath } from '#api/edge/docs/docs.ts';
import { registerLogin } from '#api/identity/login-pages.ts';
import { registerPasswordReset } from '#api/identity/password-reset-pages.ts';
import { registerProfile } from '#api/identity/profile-pages.ts';
import { registerAssets } from '#api/web/assets.ts';
import { seeOther } from '#api/web/layout.ts';
import type { PageContext } from '#api/web/page-operations.ts';
import { isSignedIn, pageAdder } from '#api/web/page-route.ts';
import { pagePath, pages } from '#api/web/paths.ts';

/** Registers all pages of the service, and the files that they use. */
export async function registerPages(app: FastifyInstance, context: PageContext): Promise<void> {
  await registerAssets(app);
  const addPage = pageAdder(app, context);
  addPage(`GET ${pages.home}`, async (request, reply) =>
    seeOther(reply, isSignedIn(request) ? docsPath : pagePath(pages.login)),
  );
  registerLogin(addPage, context);
  registerProfile(addPage, context);
  registerPasswordReset(addPage, context);
}
