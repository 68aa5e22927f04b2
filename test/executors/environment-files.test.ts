import { createHash } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import type { EnvironmentFile } from '#executors/protocol/request.ts';
import { makeWorkRoot, runScript, runSteps, shell } from './support.ts';

const work = makeWorkRoot();
afterAll(work.remove);

const token = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJydW4ifQ.c2lnbmF0dXJl';
const environmentFiles: EnvironmentFile[] = [
  { name: 'TOKEN_FILE', text: token },
  { name: 'ACCOUNT_FILE', text: '{"file":"@@token@@"}', links: { '@@token@@': 'TOKEN_FILE' } },
];
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe.each([{ isolation: 'sandbox' as const }, { isolation: 'none' as const }])(
  'files of environment variables with isolation $isolation',
  (choice) => {
    const script = (text: string) => runScript(work.path, text, { environmentFiles, choice });

    it('have their path in the variable, and only the owner may read them', async () => {
      const { sink } = await script('stat -c %a "$TOKEN_FILE"; sha256sum < "$TOKEN_FILE"; ls "$PWD"');
      expect(sink.text('stdout')).toMatch(new RegExp(`^600\n${sha256(token)}  -\n`));
      expect(sink.text('stdout'), 'it is not among the files of the template').not.toContain('TOKEN_FILE');
    });

    it('may contain the path of another such file', async () => {
      const { sink } = await script(
        'grep -q "\\"$TOKEN_FILE\\"" "$ACCOUNT_FILE" && echo linked; grep -c "@@" "$ACCOUNT_FILE"',
      );
      expect(sink.text('stdout')).toBe('linked\n0\n');
    });

    it('are redacted from the log, in whatever encoding they are printed', async () => {
      const { sink } = await script(
        'cat "$TOKEN_FILE"; echo; base64 -w0 "$TOKEN_FILE"; echo; od -An -tx1 "$TOKEN_FILE" | tr -d " \\n"; echo; cat "$TOKEN_FILE" >&2',
      );
      expect(sink.text('stdout')).toBe('[redacted]\n[redacted]\n[redacted]\n');
      for (const form of [token, Buffer.from(token).toString('base64'), Buffer.from(token).toString('hex')])
        expect(sink.text()).not.toContain(form);
    });

    it('are absent in a phase whose request has none', async () => {
      const show = shell('echo "token: ${TOKEN_FILE:-none}"');
      const { sink } = await runSteps(work.path, { plan: [shell('echo [] > plan.json')], apply: [show] }, { choice });
      expect(sink.text('stdout')).toBe('token: none\n');
    });
  },
);

describe('a file with a name that the service reserves', () => {
  it('is not given to the steps', async () => {
    const files = [{ name: 'HOME', text: token }];
    const { sink } = await runScript(work.path, 'echo "$HOME"', { environmentFiles: files });
    expect(sink.text('stdout')).toMatch(/\/home\n$/);
    expect(sink.text('system')).toContain('the variable HOME is not passed on');
  });

  it.each(['../escape', 'A/B', ''])(
    'a file with a reserved name, or %j, which no variable can have, fails the attempt',
    async (name) => {
      const { result } = await runScript(work.path, 'true', { environmentFiles: [{ name, text: token }] });
      expect(result).toMatchObject({ outcome: 'failed', reason: 'environment_invalid' });
    },
  );
});
