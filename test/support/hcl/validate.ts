import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** What a tool says of a file, as `validate -json` prints it. */
export interface Said {
  readonly summary: string;
  readonly detail: string;
  /** 1 for the first. */
  readonly line: number;
}

interface Validation {
  readonly diagnostics: {
    summary: string;
    detail: string;
    range?: { filename: string; start: { line: number } };
  }[];
}

/** Has a tool read files without `init`, and returns what it says of each by its name. */
export async function validateFiles(
  tool: string,
  files: Readonly<Record<string, string>>,
): Promise<Map<string, Said[]>> {
  const directory = await mkdtemp(join(tmpdir(), 'validated-'));
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
    const { stdout } = await promisify(execFile)(tool, ['validate', '-json'], {
      cwd: directory,
      env: { ...process.env, TF_CLI_CONFIG_FILE: '/dev/null' },
      maxBuffer: 1024 * 1024 * 1024,
    }).catch((error: { stdout: string }) => error);
    const { diagnostics }: Validation = JSON.parse(stdout);
    const said = new Map<string, Said[]>(Object.keys(files).map((name) => [name, []]));
    for (const { summary, detail, range } of diagnostics) {
      if (range) said.get(range.filename)?.push({ summary, detail, line: range.start.line });
    }
    return said;
  } finally {
    await rm(directory, { recursive: true });
  }
}
