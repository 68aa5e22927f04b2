/** What all processes of a job together may use; open files are counted per process. */
export interface JobLimits {
  readonly diskBytes: number;
  readonly processes: number;
  readonly memoryBytes: number;
  readonly openFiles: number;
  readonly cpuSeconds: number;
}
