import { describe, expect, it } from 'vitest';
import { generateApiKey, looksLikeApiKey } from '#domain/identity/api-keys/api-keys.ts';
import { Email, emailKey, PersonName } from '#domain/identity/model.ts';
import { Password } from '#domain/identity/passwords/rules.ts';
import { needsApproval, priorityOf, runTransitions } from '#domain/runs/model.ts';
import { anonymous } from '#domain/shared/access/principal.ts';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import { bindCommand } from '#domain/shared/commands/command.ts';
import { Id, isId, newId } from '#domain/shared/ids.ts';
import { isRoleAbove, platformRoles } from '#domain/shared/vocabulary/roles.ts';
import { reasonsThat, statusReasons } from '#domain/shared/vocabulary/run-reasons.ts';
import { isTerminal, type RunStatus, runStatuses, terminalStatuses } from '#domain/shared/vocabulary/runs.ts';

it('a platform role counts as above the roles that the list names before it, but not as above itself', () => {
  for (const [rank, role] of platformRoles.entries())
    expect(platformRoles.filter((other) => isRoleAbove(role, other))).toEqual(platformRoles.slice(0, rank));
});

it("the uncertain reasons of a run's end are a lost worker and a state that was not kept", () => {
  expect(reasonsThat('isUncertain')).toEqual(['executor_lost', 'state_not_saved', 'state_refused']);
});

it("the final reasons of a run's end are those that a repetition would meet again", () => {
  expect(reasonsThat('isFinal')).toEqual([
    'approval_timeout',
    'rejected',
    'stale',
    'pool_closed',
    'operation_unsupported',
    'connection_unbound',
    'connection_unfit',
    'connection_conflict',
    'connection_elsewhere',
    'connection_unauthorized',
    'outputs_not_readable',
  ]);
});

it('an apply has a higher priority than any plan, and a plan than a scan', () => {
  expect((['apply', 'destroy', 'scan'] as const).map((operation) => priorityOf(operation, 'applying'))).toEqual([
    1, 1, 1,
  ]);
  expect((['apply', 'destroy', 'plan'] as const).map((operation) => priorityOf(operation, 'planning'))).toEqual([
    3, 3, 3,
  ]);
  expect(priorityOf('scan', 'planning')).toBe(5);
});

describe('the transitions of a run', () => {
  it('cover the eight statuses of the specification and no other', () => {
    expect([...runStatuses].sort()).toEqual(
      ['canceled', 'canceling', 'failed', 'pending_approval', 'queued', 'running', 'succeeded', 'timed_out'].sort(),
    );
    expect(Object.keys(runTransitions).sort()).toEqual([...runStatuses].sort());
  });

  it('lead from no terminal status anywhere, and from every other status to a terminal one', () => {
    for (const status of runStatuses) {
      if (isTerminal(status)) expect(runTransitions[status], status).toEqual([]);
      else expect(runTransitions[status].some(isTerminal), status).toBe(true);
    }
    expect(runStatuses.filter(isTerminal).sort()).toEqual([...terminalStatuses].sort());
  });

  it('lead to `canceling` from every active status, and from there only to a terminal one', () => {
    for (const status of ['queued', 'running', 'pending_approval'] as const)
      expect(runTransitions[status], status).toContain('canceling');
    expect(runTransitions.canceling.every(isTerminal)).toBe(true);
  });

  it('never lead past the approval to an apply or a success', () => {
    expect(runTransitions.pending_approval).not.toContain('succeeded');
    expect(runTransitions.queued).not.toContain('succeeded');
    expect(runTransitions.queued).not.toContain('pending_approval');
    const intoWaiting = (Object.keys(runTransitions) as RunStatus[]).filter((from) =>
      runTransitions[from].includes('queued'),
    );
    expect(intoWaiting).toEqual([]);
  });

  it('have an explanation for every reason of an end', () => {
    for (const [reason, words] of Object.entries(statusReasons)) {
      expect(reason).toMatch(/^[a-z]+(_[a-z]+)*$/);
      expect(words.length, reason).toBeGreaterThan(10);
    }
  });
});

describe('the decision whether a plan waits for approval', () => {
  const rows: [string, number, 'never' | 'destroys' | 'changes' | 'always', boolean, boolean, boolean][] = [
    ['never', 2, 'never', true, true, false],
    ['destroys, and it does', 1, 'destroys', true, true, true],
    ['destroys, and it only adds', 1, 'destroys', true, false, false],
    ['changes', 1, 'changes', true, false, true],
    ['always', 1, 'always', true, false, true],
    ['always, but nobody is required', 0, 'always', true, true, false],
    ['always, but nothing changes', 5, 'always', false, false, false],
    ['changes, but nothing changes', 1, 'changes', false, false, false],
  ];
  it.each(rows)('%s', (_name, required, when, changes, destroys, waits) => {
    expect(needsApproval({ required, when }, { changes, destroys })).toBe(waits);
  });
});

describe('an id', () => {
  it('is a canonical lowercase UUID other than zero', () => {
    const id = newId();
    expect(isId(id)).toBe(true);
    const bad = [
      '',
      id.toUpperCase(),
      `{${id}}`,
      `urn:uuid:${id}`,
      id.replaceAll('-', ''),
      ` ${id}`,
      `${id}\n`,
      `${id}0`,
    ];
    for (const text of [...bad, '00000000-0000-0000-0000-000000000000', id.replace(/^./, 'g')]) {
      expect(isId(text), JSON.stringify(text)).toBe(false);
      expect(Id.safeParse(text).success, JSON.stringify(text)).toBe(false);
    }
  });

  it('sorts by when it was made', () => {
    const made = Array.from({ length: 5_000 }, newId);
    expect([...made].sort()).toEqual(made);
    expect(new Set(made).size).toBe(made.length);
  });
});

describe('an API key', () => {
  it('has its prefix, 43 random characters and a checksum that a scanner can verify', () => {
    const keys = Array.from({ length: 200 }, generateApiKey);
    for (const key of keys) {
      expect(key).toMatch(/^dc_[0-9A-Za-z]{49}$/);
      expect(looksLikeApiKey(key)).toBe(true);
    }
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('is rejected if one character is changed, left out, doubled or added', () => {
    const key = generateApiKey();
    for (let index = 0; index < key.length; index += 1) {
      const other = key[index] === 'x' ? 'y' : 'x';
      expect(looksLikeApiKey(key.slice(0, index) + other + key.slice(index + 1)), `changed at ${index}`).toBe(false);
      expect(looksLikeApiKey(key.slice(0, index) + key.slice(index + 1)), `without ${index}`).toBe(false);
    }
    for (const text of [`${key}\n`, ` ${key}`, `${key}${key}`, key.toUpperCase(), '', 'dc_', key.replace('dc_', '')])
      expect(looksLikeApiKey(text), JSON.stringify(text)).toBe(false);
  });
});

describe('the fingerprint of a command', () => {
  const key = Buffer.alloc(32, 1);
  const caller = { ...anonymous, id: newId() };
  const command = { caller, operation: 'runs.create', target: { id: 'a' }, input: { size: 3, tags: ['x', 'y'] } };
  const bound = bindCommand(key, command);

  it('does not depend on the order of members, or on the credential or name of the caller', () => {
    const again = bindCommand(key, {
      caller: { ...caller, name: 'renamed', credential: { type: 'api_key', id: newId() } },
      operation: 'runs.create',
      input: { tags: ['x', 'y'], size: 3 },
      target: { id: 'a' },
    });
    expect(again.equals(bound)).toBe(true);
  });

  it.each([
    ['caller', { ...command, caller: { ...caller, id: newId() } }],
    ['operation', { ...command, operation: 'runs.requeue' }],
    ['target', { ...command, target: { id: 'b' } }],
    ['name of the target', { ...command, target: { other: 'a' } }],
    ['value', { ...command, input: { size: 4, tags: ['x', 'y'] } }],
    ['type of a value', { ...command, input: { size: '3', tags: ['x', 'y'] } }],
    ['order of a list', { ...command, input: { size: 3, tags: ['y', 'x'] } }],
    ['null instead of absence', { ...command, input: { size: 3, tags: ['x', 'y'], message: null } }],
    ['empty object', { ...command, input: {} }],
    ['nothing', { ...command, input: undefined }],
    ['precondition', { ...command, precondition: '"3"' }],
  ])('differs if the command has another %s', (_name, other) => {
    expect(bindCommand(key, other).equals(bound)).toBe(false);
  });

  it('differs between installations', () => {
    expect(bindCommand(Buffer.alloc(32, 2), command).equals(bound)).toBe(false);
  });

  it('differs if the same text is divided into its parts at another place', () => {
    const one = bindCommand(key, { caller, operation: 'a', target: { id: 'b","c' }, input: null });
    const two = bindCommand(key, { caller, operation: 'a', target: { id: 'b' }, input: 'c' });
    expect(one.equals(two)).toBe(false);
  });

  it('contains members of any name', () => {
    const odd = JSON.parse('{"__proto__": {"a": 1}, "constructor": 2, "10": 3, "9": 4}');
    expect(canonicalJson(odd)).toBe('{"9":4,"10":3,"__proto__":{"a":1},"constructor":2}');
  });
});

describe('a person’s fields', () => {
  it('accept a password of 8 or more characters that are not all spaces', () => {
    for (const good of ['seven 77', 'pass word', ' leading', 'äöüßéèêë', `${'long '.repeat(204)}one`])
      expect(Password.safeParse(good).success, good.slice(0, 20)).toBe(true);
    for (const bad of ['', '1234567', ' '.repeat(8), '\t\n'.repeat(8), '🐴🔋'.repeat(2), `${'long '.repeat(205)}`])
      expect(Password.safeParse(bad).success, JSON.stringify(bad.slice(0, 20))).toBe(false);
  });

  it('compare addresses regardless of case, and accept only complete addresses', () => {
    expect(emailKey('Ana@Example.COM')).toBe('ana@example.com');
    for (const bad of [
      '',
      'ana',
      'ana@',
      '@example.com',
      'ana@example',
      'a b@example.com',
      'ana@example.com\n',
      ' ana@example.com',
    ])
      expect(Email.safeParse(bad).success, JSON.stringify(bad)).toBe(false);
    expect(Email.safeParse(`${'a'.repeat(250)}@example.com`).success).toBe(false);
  });

  it('accept a name only if it is not empty and has at most 200 characters', () => {
    expect(PersonName.parse('  Ana  ')).toBe('Ana');
    for (const bad of ['', '   ', 'x'.repeat(201)]) expect(PersonName.safeParse(bad).success).toBe(false);
  });
});
