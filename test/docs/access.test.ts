import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { evaluationErrorCodes, reasonCodes } from '#api/access-reviews/access-review.ts';
import { canI } from '#api/access-reviews/operations.ts';
import { longestOverlapSeconds, mostActiveKeys } from '#domain/identity/api-keys/changes.ts';
import { platformRoles } from '#domain/identity/model.ts';
import { teamRoleOfAccount } from '#domain/service-accounts/model.ts';
import { rolePermissions } from '#domain/shared/access/permissions.ts';
import { formatDuration } from '#domain/shared/durations.ts';
import { teamRoleActions } from '#domain/teams/model.ts';
import { addPerson, addTeam } from '#test/support/access/people.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';
import { runShell } from '#test/support/shell.ts';
import { codeBlocks, tableUnder } from './markdown.ts';

const page = 'docs/access.md';
/** The names in a cell, each between backticks. */
const names = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
const byRole = (heading: string): Record<string, string[]> =>
  Object.fromEntries(tableUnder(page, heading).map(([role, cell]) => [names(role)[0], names(cell)]));

describe('the tables of roles', () => {
  it('say what each platform role adds', () => {
    const added = platformRoles.map((role, at) => {
      const below = platformRoles[at - 1];
      return [role, [...rolePermissions[role]].filter((each) => !below || !rolePermissions[below].has(each)).sort()];
    });
    const written = Object.entries(byRole('## Platform roles')).map(([role, permissions]) => [
      role,
      permissions.sort(),
    ]);
    expect(written).toEqual(added);
  });

  it('say what each team role may', () => {
    expect(byRole('## Team roles')).toEqual(teamRoleActions);
  });

  it('say what a service account is in its teams', () => {
    const mapped = Object.entries(teamRoleOfAccount).map(([role, teamRole]) => [role, [teamRole]]);
    expect(byRole('## Service accounts')).toEqual(Object.fromEntries(mapped));
  });
});

describe('the table of limits', () => {
  it('says how many keys there may be, and how long two of them overlap', () => {
    expect(tableUnder(page, '## API keys').map(([, value]) => value)).toEqual([
      String(mostActiveKeys),
      formatDuration(longestOverlapSeconds),
    ]);
  });
});

describe('what is said of asking beforehand', () => {
  const codes = tableUnder(page, '## Asking beforehand').flatMap((cells) => names(cells.at(-1)));

  it('has every code of an answer', () => {
    const known = ['reason', 'evaluation_error', ...reasonCodes, ...evaluationErrorCodes];
    expect([...new Set(codes)].sort()).toEqual([...known].sort());
    expect(codes.filter((code) => code === 'reason')).toHaveLength(2);
  });

  it('shows a question and an answer of the right form', () => {
    const [question, answer] = codeBlocks(page).filter(({ info }) => info === 'json');
    expect(canI.body?.safeParse(JSON.parse(question?.text ?? '')).success).toBe(true);
    expect(canI.responses[200].safeParse(JSON.parse(answer?.text ?? '')).success).toBe(true);
  });
});

describe('the commands', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi();
  });
  afterAll(() => api?.close());

  it.each(['sh', 'bash'])('make an account that acts by its key and by the next one, in %s', async (shell) => {
    const { organizationId, teamId } = await addTeam(api.orm);
    const owner = await addPerson(api, 'maintainer', {
      teams: { [teamId]: 'owner' },
      organizations: { [organizationId]: 'member' },
    });
    const input = codeBlocks(page)
      .filter(({ info }) => info === 'sh access')
      .map(({ text }) => text.replaceAll(/^api .*$/gm, (line) => `${line}; echo`))
      .join('');
    const environment = { URL: api.url, KEY: owner.key, TEAM: teamId };
    const { code, output, errors } = await runShell(['-eu'], environment, { shell, input });
    expect({ code, errors }, output).toEqual({ code: 0, errors: '' });
    const answers = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(answers).toHaveLength(3);
    for (const answer of answers)
      expect(answer).toMatchObject({ type: 'service_account', name: 'deploy', teams: [{ id: teamId, role: 'admin' }] });
    expect(answers[0].credential).toEqual(answers[2].credential);
    expect(answers[1].credential).not.toEqual(answers[0].credential);
    expect(Object.keys(answers[0].credential)).toEqual(['type', 'id']);
  });
});
