import { dirname } from 'node:path'
import { codeFrame, mistakesOf, placeOf } from './code-frame.ts'
import { esbuild } from './esbuild.ts'

export const isCommonJs = (file: string): boolean => file.endsWith('.cts')

/** The translation of a file, with decorators of both protocols. */
export function translated(file: string): string {
  try {
    const { outputFiles } = esbuild().buildSync({
      entryPoints: [file],
      // Built, although not bundled: a build reads the tsconfig.json of the file, which determines its decorators.
      bundle: false,
      write: false,
      format: isCommonJs(file) ? 'cjs' : 'esm',
      platform: 'node',
      target: `node${process.versions.node}`,
      // As in cli/build/compile.ts.
      keepNames: true,
      sourcemap: 'inline',
      sourcesContent: false,
      outdir: dirname(file),
      logLevel: 'silent',
    })
    return outputFiles[0]!.text
  } catch (error) {
    throw refusal(error)
  }
}

/** A mistake in a file of the application with its place; the place in esbuild does not matter. */
function refusal(error: unknown): unknown {
  const mistakes = mistakesOf(error)
  if (mistakes.length === 0) return error
  const failure = new SyntaxError(mistakes.map(codeFrame).join('\n\n'))
  failure.stack = `${failure.message}\n    at ${mistakes.map(placeOf).find(Boolean)}`
  return failure
}
