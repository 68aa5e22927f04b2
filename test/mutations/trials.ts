import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createVitest, type TestRunResult, type Vitest } from 'vitest/node';
import type { Mutant } from './places.ts';
import { relatedTests } from './related-tests.ts';

export type Verdict = 'killed' | 'survived' | 'timed out' | 'untested';

/** Tries mutants one after the other in a copy of the project, whose services start only once. */
export class Trials {
  readonly #root: string;
  readonly #vitest: Vitest;
  /** Whether the tests of a file pass without any mutant. */
  readonly #sound = new Map<string, boolean>();

  static async open(root: string): Promise<Trials> {
    const vitest = await createVitest('test', {
      root,
      watch: false,
      bail: 1,
      maxWorkers: 1,
      reporters: [],
      testTimeout: 60_000,
    });
    return new Trials(root, vitest);
  }

  private constructor(root: string, vitest: Vitest) {
    this.#root = root;
    this.#vitest = vitest;
  }

  /** @returns the verdict, with the file of the test that killed the mutant; null if it lives */
  async try(mutant: Mutant): Promise<{ verdict: Verdict; by: string | null }> {
    const { files, pattern } = relatedTests(mutant.file);
    let tried = 0;
    for (const file of files) {
      if (!(await this.#isSound(file, pattern))) continue;
      tried += 1;
      if (await this.#kills(file, mutant, pattern)) return { verdict: 'killed', by: file };
    }
    return { verdict: tried > 0 ? 'survived' : 'untested', by: null };
  }

  async #kills(file: string, mutant: Mutant, pattern: RegExp | undefined): Promise<boolean> {
    const path = join(this.#root, mutant.file);
    const original = readFileSync(path);
    const { start, end, text } = mutant;
    try {
      this.#write(path, Buffer.concat([original.subarray(0, start), Buffer.from(text), original.subarray(end)]));
      return !(await this.#passes(file, pattern));
    } finally {
      this.#write(path, original);
    }
  }

  #write(path: string, content: Buffer): void {
    writeFileSync(path, content);
    this.#vitest.invalidateFile(path);
  }

  async close(): Promise<void> {
    await this.#vitest.close();
  }

  /** Tests that fail by themselves kill nothing. */
  async #isSound(file: string, pattern: RegExp | undefined): Promise<boolean> {
    const sound = this.#sound.get(file) ?? (await this.#passes(file, pattern));
    this.#sound.set(file, sound);
    return sound;
  }

  async #passes(file: string, pattern: RegExp | undefined): Promise<boolean> {
    if (pattern) this.#vitest.setGlobalTestNamePattern(pattern);
    else this.#vitest.resetGlobalTestNamePattern();
    // Vitest skips tests where files that ran earlier have failed, for `bail` counts those as well.
    this.#vitest.state.filesMap.clear();
    const project = this.#vitest.getRootProject();
    const specification = project.createSpecification(join(this.#root, file));
    return hasPassed(await this.#vitest.runTestSpecifications([specification]));
  }
}

function hasPassed({ testModules, unhandledErrors }: TestRunResult): boolean {
  return unhandledErrors.length === 0 && testModules.length > 0 && testModules.every((module) => module.ok());
}
