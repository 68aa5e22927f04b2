import { NotFound } from '#domain/shared/errors.ts';
import { type LocalInstallation, runLocalCommand } from './local-command.ts';
import { hashPassword } from './passwords/passwords.ts';
import { passwordReset } from './passwords/resets.ts';
import { refusePersonal } from './passwords/rules.ts';
import { setPassword } from './sessions/credentials.ts';
import { findAdministratorToChange } from './users/store.ts';

/**
 * Sets a new password for an administrator from the command line, and ends all their sessions.
 * @throws NotFound if no enabled administrator has the address; Invalid for a password that is their address or name
 */
export async function recoverAdministrator(
  installation: LocalInstallation,
  { email, password }: { email: string; password: string },
): Promise<void> {
  const passwordHash = await hashPassword(password);
  await runLocalCommand(installation, { operation: 'admin.recover', audit: passwordReset }, async (tx) => {
    const administrator = await findAdministratorToChange(tx.em, email);
    if (!administrator) throw new NotFound(`an enabled administrator with the address ${email}`);
    refusePersonal('password', password, administrator);
    await setPassword(tx.em, administrator.id, { hash: passwordHash, revokesKeys: false });
    return { id: administrator.id };
  });
}
