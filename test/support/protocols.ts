/** The two protocols of decorators; a suite is compiled for each. */
export const protocols = ['standard', 'legacy'] as const

/** A suite of `test/plugins/fixtures`, compiled for one protocol: its export registers its tests. */
export async function suiteOf(name: string, protocol: (typeof protocols)[number]): Promise<() => void> {
  const url = new URL(`../plugins/fixtures/${name}.ts?${protocol}`, import.meta.url).href
  const { suite } = (await import(/* @vite-ignore */ url)) as { suite: () => void }
  return suite
}
