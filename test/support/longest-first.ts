import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** How many seconds the longest files took when somebody last ran `npm test -- --record`, by their paths in the project. */
const recorded: Record<string, number> = JSON.parse(readFileSync(new URL('./durations.json', import.meta.url), 'utf8'));

/**
 * Begins with the files that took longest. One that begins last would run alone, while the other processes have nothing left to do. The
 * rest follows in the order of Vitest, which is that of their last durations on this machine.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ranked = (await super.sort(files)).map((file) => ({ file, seconds: secondsOf(file) }));
    return ranked.sort((one, other) => other.seconds - one.seconds).map(({ file }) => file);
  }
}

function secondsOf({ moduleId, project }: TestSpecification): number {
  return recorded[relative(project.config.root, moduleId)] ?? 0;
}
