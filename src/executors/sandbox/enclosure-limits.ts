/** What a job may take of the machine, all its processes together but for the open files, which count for each. */
export interface EnclosureLimits {
  readonly diskBytes: number;
  readonly processes: number;
  readonly memoryBytes: number;
  readonly openFiles: number;
  readonly cpuSeconds: number;
}
