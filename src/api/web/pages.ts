import type { FastifyInstance } from 'fastify';
import { docsPath } from '../plugins/docs.ts';
import { registerAssets } from './assets.ts';
import { seeOther } from './layout.ts';
import { registerLogin } from './login.ts';
import { isSignedIn, loginPath, pageAdder } from './page-route.ts';
import { registerPasswordReset } from './password-reset.ts';
import type { Ground } from './perform.ts';
import { registerProfile } from './profile.ts';

/** The pages of the service, and the files that they need. */
export async function registerPages(app: FastifyInstance, ground: Ground): Promise<void> {
  await registerAssets(app);
  const addPage = pageAdder(app, ground);
  addPage('GET /', async (request, reply) => seeOther(reply, isSignedIn(request) ? docsPath : loginPath));
  registerLogin(addPage, ground);
  registerProfile(addPage, ground);
  registerPasswordReset(addPage, ground);
}
