import { expect } from 'vitest';
import type { ApiAnswer, ApiUser } from '../api/in-process-api.ts';

/** Sends an invitation; the path is the organization's or the team's. */
export async function sendInvitation(by: ApiUser, path: string, body: object) {
  const answer = await by.post(`${path}/invitations`, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body as { token: string; invitation: { id: string; status: string } };
}

export function accept(user: ApiUser, token: string): Promise<ApiAnswer> {
  return user.post('/invitations/accept', { token });
}

/** The members of an organization or a team, with their roles. */
export async function readMembers(by: ApiUser, path: string): Promise<{ id: string; role: string }[]> {
  const { body } = await by.get(`${path}/members?limit=200`);
  return (body.members as { user_id: string; role: string }[]).map(({ user_id: id, role }) => ({ id, role }));
}

export async function readStatus(by: ApiUser, path: string, id: string): Promise<string> {
  return (await by.get(`${path}/invitations/${id}`)).body.status;
}
