import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest. One that begins last would run alone, while the other processes have nothing left to do. */
const longest = [
  'test/browser/',
  'test/proofs/',
  'test/faults/',
  'test/local/',
  'test/docs/',
  'test/curl/',
  'test/clients/',
  'test/api/pipeline/',
  'test/api/runs/',
];

/** Begins with the longest files. The rest follows in the order of Vitest, which is that of their last durations. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const ranked = (await super.sort(files)).map((file) => ({ file, rank: rankOf(file) }));
    return ranked.sort((one, other) => one.rank - other.rank).map(({ file }) => file);
  }
}

function rankOf({ moduleId, project }: TestSpecification): number {
  const path = relative(project.config.root, moduleId);
  const at = longest.findIndex((start) => path.startsWith(start));
  return at === -1 ? longest.length : at;
}
