import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { evaluationErrorCodes, reasonCodes } from '#api/access-reviews/access-review.ts';
import { canI } from '#api/access-reviews/operations.ts';
import { maxActiveKeys, maxOverlapSeconds } from '#domain/identity/api-keys/changes.ts';
import { rolePermissions } from '#domain/shared/access/permissions.ts';
import { formatDuration } from '#domain/shared/values/durations.ts';
import { platformRoles, teamRoleActions, teamRoleOfAccount } from '#domain/shared/vocabulary/roles.ts';
import { addPerson, addTeam } from '#test/support/access/people.ts';
import { Caller } from '#test/support/api/caller.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';
import { runShell } from '#test/support/programs/shell.ts';
import { codeBlocks, tableUnder } from './markdown.ts';

const page = 'docs/access.md';
const password = 'correct horse battery';
/** The names between backticks in a cell. */
const names = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
const byRole = (heading: string): Record<string, string[]> =>
  Object.fromEntries(tableUnder(page, heading).map(([role, cell]) => [names(role)[0], names(cell)]));

describe('the tables of roles', () => {
  it('list the permissions that each platform role adds', () => {
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

  it('list the actions of each team role', () => {
    expect(byRole('## Team roles')).toEqual(teamRoleActions);
  });

  it('list the team role of each role of service accounts', () => {
    const mapped = Object.entries(teamRoleOfAccount).map(([role, teamRole]) => [role, [teamRole]]);
    expect(byRole('## Service accounts')).toEqual(Object.fromEntries(mapped));
  });
});

describe('the table of limits', () => {
  it('states the maximum number of keys and the longest overlap of two keys', () => {
    expect(tableUnder(page, '## API keys').map(([, value]) => value)).toEqual([
      String(maxActiveKeys),
      formatDuration(maxOverlapSeconds),
    ]);
  });
});

describe('the section on checking access in advance', () => {
  const codes = tableUnder(page, '## Asking beforehand').flatMap((cells) => names(cells.at(-1)));

  it('lists every code of a response', () => {
    const known = ['reason', 'evaluation_error', ...reasonCodes, ...evaluationErrorCodes];
    expect([...new Set(codes)].sort()).toEqual([...known].sort());
    expect(codes.filter((code) => code === 'reason')).toHaveLength(2);
  });

  it('shows a valid request and a valid response', () => {
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

  it.each(['sh', 'bash'])(
    'create an account that works with its key and with the rotated key, in %s',
    async (shell) => {
      const { organizationId, teamId } = await addTeam(api.orm);
      const owner = await addPerson(
        api,
        'maintainer',
        {
          teams: { [teamId]: 'owner' },
          organizations: { [organizationId]: 'member' },
        },
        password,
      );
      const session = await new Caller(api.url, {}).post('/auth/sessions', { email: owner.email, password });
      const input = codeBlocks(page)
        .filter(({ info }) => info === 'sh access')
        .map(({ text }) => text.replaceAll(/^api .*$/gm, (line) => `${line}; echo`))
        .join('')
        .replaceAll('http://127.0.0.1:8080', api.url);
      const environment = { TOKEN: session.body.token, TEAM: teamId };
      const { code, output, errors } = await runShell(['-eu'], environment, { shell, input });
      expect({ code, errors }, output).toEqual({ code: 0, errors: '' });
      const answers = output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(answers).toHaveLength(3);
      for (const answer of answers)
        expect(answer).toMatchObject({
          type: 'service_account',
          name: 'deploy',
          teams: [{ id: teamId, role: 'admin' }],
        });
      expect(answers[0].credential).toEqual(answers[2].credential);
      expect(answers[1].credential).not.toEqual(answers[0].credential);
      expect(Object.keys(answers[0].credential)).toEqual(['type', 'id']);
    },
  );
});
