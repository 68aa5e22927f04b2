import type { FastifyInstance } from 'fastify';
import { docsPath } from '#api/edge/docs/docs.ts';
import { registerLogin } from '#api/identity/login-pages.ts';
import { registerPasswordReset } from '#api/identity/password-reset-pages.ts';
import { registerProfile } from '#api/identity/profile-pages.ts';
import { registerAssets } from './assets.ts';
import { seeOther } from './layout.ts';
import { isSignedIn, loginPath, pageAdder } from './page-route.ts';
import type { Ground } from './perform.ts';

/** The pages of the service, and the files that they need. */
export async function registerPages(app: FastifyInstance, ground: Ground): Promise<void> {
  await registerAssets(app);
  const addPage = pageAdder(app, ground);
  addPage('GET /', async (request, reply) => seeOther(reply, isSignedIn(request) ? docsPath : loginPath));
  registerLogin(addPage, ground);
  registerProfile(addPage, ground);
  registerPasswordReset(addPage, ground);
}
