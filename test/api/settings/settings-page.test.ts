import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

it.each(['terrafrom *', '__proto__ *'])(
  'typing "%s" as an allowed tool is refused with the names of the tools',
  async (line) => {
    const visitor = await signInVisitor(api, await api.addUser('admin'));
    const { status, text } = await visitor.submit('/admin/settings', { allowed_tools: line });
    expect(status).toBe(400);
    const [name] = line.split(' ');
    expect(text).toContain(`There is no tool &quot;${name}&quot;: name opentofu, terraform or command.`);
    expect(text).not.toContain('allowed_tools.');
  },
);
