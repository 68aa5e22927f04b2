import { expect, it } from 'vitest';
import { describeAgent } from '#api/identity/user-agent.ts';

const mozilla = 'Mozilla/5.0';
const like = 'AppleWebKit/537.36 (KHTML, like Gecko)';

it.each([
  [`${mozilla} (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0`, 'Firefox on Linux'],
  [`${mozilla} (Windows NT 10.0; Win64; x64) ${like} Chrome/138.0 Safari/537.36`, 'Chrome on Windows'],
  [`${mozilla} (Windows NT 10.0; Win64; x64) ${like} Chrome/138.0 Safari/537.36 Edg/138.0`, 'Edge on Windows'],
  [`${mozilla} (Macintosh; Intel Mac OS X 10_15_7) ${like} Version/18.5 Safari/605.1.15`, 'Safari on macOS'],
  [
    `${mozilla} (iPhone; CPU iPhone OS 18_5 like Mac OS X) ${like} Version/18.5 Mobile Safari/604.1`,
    'Safari on iPhone',
  ],
  [`${mozilla} (Linux; Android 15) ${like} Chrome/138.0 Mobile Safari/537.36`, 'Chrome on Android'],
  ['curl/8.5.0', 'curl'],
  ['', 'An unnamed program'],
  [null, 'An unnamed program'],
  ['first-start-of-the-service', 'The first start of the service, which made the administrator and the sample'],
])('%j is described as %s', (agent, name) => expect(describeAgent(agent)).toBe(name));
