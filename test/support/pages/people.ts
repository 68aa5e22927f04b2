import { issueApiKey } from '#domain/identity/api-keys/api-keys.ts';
import { hashPassword } from '#domain/identity/passwords/passwords.ts';
import { createUser } from '#domain/identity/users/users.ts';
import type { PlatformRole } from '#domain/shared/vocabulary/roles.ts';
import { ApiUser, type TestApi, testPassword } from '../api/in-process-api.ts';

/** A user of the installation. All of them have the test password. */
export interface SeededPerson extends ApiUser {
  readonly name: string;
}

const cast = {
  admin: { name: 'Ingrid Solberg', role: 'admin' },
  owner: { name: 'Ana Kowalczyk', role: 'maintainer' },
  maintainer: { name: 'Tomás Herrera', role: 'maintainer' },
  reviewer: { name: 'Mei Tanaka', role: 'maintainer' },
  operator: { name: 'Olu Adeyemi', role: 'operator' },
  requester: { name: 'Jonas Weber', role: 'requester' },
  viewer: { name: 'Priya Raman', role: 'requester' },
  developer: { name: 'Sam Okafor', role: 'requester' },
  fjordOwner: { name: 'Freya Lindqvist', role: 'maintainer' },
  fjordReviewer: { name: 'Lucía Fernández-Quesada', role: 'maintainer' },
  fjordRequester: { name: 'Karim Haddad', role: 'requester' },
  newcomer: { name: 'Dana Petrova', role: 'requester' },
  /** Belongs to no organization. */
  nobody: { name: 'Aiko Mori', role: 'maintainer' },
  former: { name: 'Viktor Lange', role: 'requester' },
} as const satisfies Record<string, { name: string; role: PlatformRole }>;

export type PersonKey = keyof typeof cast;
export type People = Readonly<Record<PersonKey, SeededPerson>>;

/** Adds everybody who works with the installation, without memberships. */
export async function addPeople(api: TestApi): Promise<People> {
  const passwordHash = await hashPassword(testPassword);
  const people: [string, SeededPerson][] = [];
  for (const [key, { name, role }] of Object.entries(cast)) {
    const em = api.services.orm.em.fork();
    const { principal, user } = await createUser(em, { email: emailOf(name), name, role, passwordHash });
    const { key: secret } = issueApiKey(em, {
      principalId: principal.id,
      name: 'Laptop',
      expiresAt: null,
      issuedBy: principal.id,
    });
    await em.flush();
    const person = new ApiUser(api, { 'x-api-key': secret }, { id: principal.id, email: user.email });
    people.push([key, Object.assign(person, { name })]);
  }
  return Object.fromEntries(people) as People;
}

/** Such as `tomas.herrera@northwind.example`. */
function emailOf(name: string): string {
  const plain = name.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  return `${plain.replace(/[^a-z]+/g, '.')}@northwind.example`;
}
