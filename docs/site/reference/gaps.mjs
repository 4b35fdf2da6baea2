/** Returns the words of a name or a sentence, without words that say nothing. */
const wordsOf = (text) =>
  text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => !['', 'a', 'an', 'the', 'of', 'its', 'this', 'is', 'for'].includes(word))

/** Whether a docstring says more than the name, and more than the default: “The name.” of `name` and “Default 5.” say nothing. */
function saysSomething({ name, doc }) {
  const known = new Set(wordsOf(name))
  return !/^(?:Default|Else)\b/.test(doc.text) && wordsOf(doc.text).some((word) => !known.has(word))
}

/**
 * Returns the public names and members without a docstring. Members that are written out inside a type may be described by the
 * docstring around it, which then has their names in backticks.
 *
 * @param {import('./model.d.mts').Reference} reference
 * @returns {string[]}
 */
export function undocumented({ names }) {
  const visit = (member, owner, around) => {
    const path = owner === '' ? member.name : `${owner}.${member.name}`
    const isNamed = [...around.matchAll(/`[^`]+`/g)].some(([code]) => code.split(/[^\w$]+/).includes(member.name))
    const isMissing =
      member.name !== 'constructor' && !isNamed && (owner === '' ? member.doc.text === '' : !saysSomething(member))
    // The members of an interface have room for docstrings of their own.
    const told = /^(?:interface|class) /.test(member.signatures[0]) ? '' : `${around}\n${member.doc.text}`
    const within = member.members.flatMap((one) => visit(one, path, told))
    return [...(isMissing ? [`${member.file}:${member.line} ${path}`] : []), ...within]
  }
  return [...new Set(names.flatMap((name) => visit(name, '', '')))].sort()
}

/**
 * Returns the functions, classes and plugins that are used directly once imported, and whose docstring does not show how.
 *
 * @param {import('./model.d.mts').Reference} reference
 * @returns {string[]}
 */
export function withoutExample({ names }) {
  return names
    .filter(
      ({ kind, entryPoints, doc }) =>
        kind !== 'type' && entryPoints.some(({ isType }) => !isType) && doc.examples.length === 0,
    )
    .map(({ file, line, name }) => `${file}:${line} ${name}`)
}
