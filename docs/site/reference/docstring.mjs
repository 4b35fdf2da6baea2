const known = 'example|throws|param|returns|deprecated|internal'

/**
 * Reads a docstring. TypeScript's own reader takes each `@` in an example, such as that of a decorator, for a tag.
 *
 * @param {string} comment with its marks
 * @returns {import('./model.d.mts').Docstring}
 */
export function readDocstring(comment) {
  const body = comment
    .replace(/^\/\*\*\n?|\s*\*\/$/g, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, ''))
    .join('\n')
  const [before = '', ...examples] = body.split(/^@example[ \t]*\n/m)
  const tagAfter = new RegExp(`^@(?:${known})\\b[\\s\\S]*`, 'm')
  const all = [before, ...examples.map((example) => tagAfter.exec(example)?.[0] ?? '')].join('\n')
  const [text = '', ...parts] = all.split(new RegExp(`(?:^|\\s)@(${known})\\b`))
  /** @type {Record<string, string[]>} */
  const tags = {}
  for (let i = 0; i < parts.length; i += 2) {
    const tag = parts[i]
    tags[tag] = [...(tags[tag] ?? []), parts[i + 1].trim()]
  }
  return {
    text: [text, ...(tags.internal ?? [])].join('\n').trim(),
    examples: examples.map((example) => example.replace(tagAfter, '').trimEnd()),
    throws: tags.throws ?? [],
    params: tags.param ?? [],
    returns: tags.returns ?? [],
    deprecated: tags.deprecated ?? [],
    isInternal: tags.internal !== undefined,
  }
}
