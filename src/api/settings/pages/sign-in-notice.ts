import { readSettings } from '#domain/settings/store.ts';
import type { Services } from '../../services.ts';

/** The settings' notice for everybody who signs in; null if there is none. A failure to read it must not keep anybody from signing in. */
export async function readSignInNotice({ orm, log }: Pick<Services, 'orm' | 'log'>): Promise<string | null> {
  try {
    return (await readSettings(orm.em.fork())).document.sign_in_notice ?? null;
  } catch (error) {
    log.warn({ err: error }, 'could not read the notice of the sign-in page');
    return null;
  }
}
