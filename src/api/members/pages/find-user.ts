import { list as listUsers } from '#api/identity/user-operations.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { emailKey } from '#domain/identity/model.ts';
import { invalidField } from '#domain/shared/errors.ts';
import { isId } from '#domain/shared/ids.ts';
import { list as listMembers } from '../organization-operations.ts';

/** Most organizations have fewer members. In larger ones, people are named by their id. */
const mostPages = 5;

/**
 * The id of the person who was typed: an id stays as it is, and an e-mail address is looked up among the members of the organization, and by
 * those who manage users among all users. @throws Invalid at the field
 */
export async function findUserId(
  visit: Visit,
  { orgID, field, typed }: { readonly orgID: string; readonly field: string; readonly typed: string },
): Promise<string> {
  const text = typed.trim();
  if (text === '' || isId(text)) return text;
  if (!text.includes('@')) throw invalidField(field, 'must be an e-mail address or the id of a user');
  const found = (await findMember(visit, orgID, text)) ?? (await findUser(visit, text));
  if (found !== undefined) return found;
  throw invalidField(
    field,
    'is the address of nobody whom you may choose. Invite new people by their e-mail address instead',
  );
}

async function findMember(visit: Visit, orgID: string, email: string): Promise<string | undefined> {
  let cursor: string | null = null;
  for (let page = 0; page < mostPages; page += 1) {
    const query: Record<string, string> = { limit: '200', ...(cursor !== null && { cursor }) };
    const answer = await visit.read(listMembers, { params: { orgID }, query });
    const found = answer.members.find((member) => member.email !== null && emailKey(member.email) === emailKey(email));
    if (found) return found.user_id;
    cursor = answer.next_cursor;
    if (cursor === null) return undefined;
  }
  return undefined;
}

async function findUser(visit: Visit, email: string): Promise<string | undefined> {
  if (!visit.mayDo(listUsers).allowed) return undefined;
  const { users } = await visit.read(listUsers, { query: { email } });
  return users[0]?.id;
}
