/** The names that {@link runtimeBinary} takes. */
export const runtimes: readonly string[]

/** The path of a pinned runtime, `undefined` when it is not installed. */
export function runtimeBinary(name: string): string | undefined
