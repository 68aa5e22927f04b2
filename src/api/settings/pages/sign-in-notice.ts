import type { Visit } from '#api/web/visit/visit.ts';
import { readSettings } from '#domain/settings/store.ts';

/** What the settings tell everybody who signs in; null if nothing. Nobody is kept from signing in because it cannot be read. */
export async function readSignInNotice(visit: Visit): Promise<string | null> {
  try {
    return (await readSettings(visit.em)).document.sign_in_notice ?? null;
  } catch (error) {
    visit.context.services.log.warn({ err: error }, 'could not read the notice of the sign-in page');
    return null;
  }
}
