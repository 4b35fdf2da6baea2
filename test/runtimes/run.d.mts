/** The names that {@link runtimeBinary} takes. */
export const runtimes: readonly string[]

/** The path of a pinned runtime, `undefined` when it is not installed. */
export function runtimeBinary(name: string): string | undefined

/** The path of a pinned tool, whether it is installed or not. */
export function toolScript(name: 'typescript5' | 'attw'): string
