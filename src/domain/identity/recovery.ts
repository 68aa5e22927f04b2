import { NotFound } from '#domain/shared/errors.ts';
import { type LocalInstallation, runLocalCommand } from './local-command.ts';
import { emailKey } from './model.ts';
import { hashPassword } from './passwords/passwords.ts';
import { passwordReset } from './passwords/resets.ts';
import { refusePersonal } from './passwords/rules.ts';
import { setPassword } from './sessions/credentials.ts';

interface AdministratorRow {
  id: string;
  name: string;
  email: string;
}

/**
 * Gives an administrator who has forgotten theirs a new password, from the command line; all their sessions end.
 * @throws NotFound where no enabled administrator has the address; Invalid for a password that is their address or name
 */
export async function recoverAdministrator(
  installation: LocalInstallation,
  { email, password }: { email: string; password: string },
): Promise<void> {
  const passwordHash = await hashPassword(password);
  await runLocalCommand(installation, { operation: 'admin.recover', audit: passwordReset }, async (tx) => {
    const [administrator] = await tx.em.execute<AdministratorRow[]>(
      `select p.id, p.name, u.email from principals p join users u on u.id = p.id
        where u.email_key = ? and p.role = 'admin' and p.enabled and p.deleted_at is null for no key update of p`,
      [emailKey(email)],
    );
    if (!administrator) throw new NotFound(`an enabled administrator with the address ${email}`);
    refusePersonal('password', password, administrator);
    await setPassword(tx.em, administrator.id, passwordHash);
    return { id: administrator.id };
  });
}
