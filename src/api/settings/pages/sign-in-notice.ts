import { readSettings } from '#domain/settings/store.ts';
import type { Services } from '../../services.ts';

/** What the settings tell everybody who signs in; null if nothing. Nobody is kept from signing in because it cannot be read. */
export async function readSignInNotice({ orm, log }: Pick<Services, 'orm' | 'log'>): Promise<string | null> {
  try {
    return (await readSettings(orm.em.fork())).document.sign_in_notice ?? null;
  } catch (error) {
    log.warn({ err: error }, 'could not read the notice of the sign-in page');
    return null;
  }
}
