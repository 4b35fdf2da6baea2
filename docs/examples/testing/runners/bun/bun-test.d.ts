// An application has the package @types/bun. Here, its globals would be those of all examples.
declare module 'bun:test' {
  export function test(name: string, run: () => unknown): void
}
