import { readDocstring } from './docstring.mjs'
import { childrenOf, placeOf, readSources, ts } from './program.mjs'

const docstringOf = (node) => (ts.isVariableDeclaration(node) ? node.parent.parent : node).jsDoc?.at(-1)
const docOf = (node) => readDocstring(docstringOf(node)?.getText() ?? '')
const isHidden = (node) =>
  docOf(node).isInternal ||
  (ts.getCombinedModifierFlags(node) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) !== 0 ||
  // `#private`, `[Symbol.iterator]`, and `'~standard'`, which is for machines.
  /^(?:#|\[|'~)/.test(node.name?.getText() ?? '')
const visible = (symbol) => (symbol.declarations ?? []).filter((node) => !isHidden(node))

/** Returns the object types that are written out inside a type: in an option, in the result of a promise. */
function literalsIn(type) {
  if (type === undefined) return []
  if (ts.isTypeLiteralNode(type)) return [type]
  if (ts.isTypeReferenceNode(type)) return (type.typeArguments ?? []).flatMap(literalsIn)
  const isTransparent = [ts.isUnionTypeNode, ts.isIntersectionTypeNode, ts.isParenthesizedTypeNode, ts.isArrayTypeNode]
  if (ts.isTypeOperatorNode(type) || isTransparent.some((is) => is(type))) return childrenOf(type).flatMap(literalsIn)
  return []
}

/** Whether a type is an object whose members are written in the sources, not computed from other types. */
function hasMembers(node) {
  if (node.getSourceFile().isDeclarationFile) return false
  const owners = ts.isTypeAliasDeclaration(node) ? literalsIn(node.type) : [node]
  return owners.some(({ members }) => members?.some(({ name }) => name !== undefined))
}

/** Leaves out declarations that merge into others and say no more than they do. */
const distinct = (signatures) =>
  [...new Set(signatures)].filter((one) => !signatures.some((other) => other.startsWith(`${one} extends`)))

/** Shortens a type that the compiler has found, which may be as long as a page. */
const shortened = (type) => (type.length > 300 ? '…' : type)

let reference

/**
 * Reads every public name and its members from the sources, once.
 *
 * @returns {import('./model.d.mts').Reference}
 */
export function readReference() {
  reference ??= referenceOf(readSources())
  return reference
}

function referenceOf({ exported, files, exportsOf, symbolAt, typeText, resultText }) {
  const isOwn = (symbol) => symbol?.declarations?.some((node) => !node.getSourceFile().isDeclarationFile)
  /** Returns the bases of a declaration that are written in the sources: `Error` has members, too. */
  const basesOf = (node) =>
    (node.heritageClauses ?? []).flatMap(({ types }) => types.map((one) => symbolAt(one.expression)).filter(isOwn))
  /** Returns the types that a declaration names in its public parts, apart from its bases. */
  function typesIn(node) {
    if (ts.isConstructorDeclaration(node) || ts.isHeritageClause(node) || ts.isBlock(node) || isHidden(node)) return []
    const target = ts.isTypeReferenceNode(node) ? node.typeName : ts.isTypeQueryNode(node) ? node.exprName : undefined
    const own = target === undefined ? undefined : symbolAt(target)
    const within = childrenOf(node).filter((child) => child !== node.initializer)
    return [...(own === undefined ? [] : [own]), ...within.flatMap(typesIn)]
  }

  const ids = new Map([...exported.keys()].filter((symbol) => visible(symbol).length > 0).map((one, id) => [one, id]))
  const isExported = (symbol) => exported.has(symbol)
  /** Returns the declarations of a name, and of those of its bases that cannot be imported. */
  const shownOf = (symbol) =>
    visible(symbol).flatMap((node) => {
      const bases = basesOf(node).filter((base) => !isExported(base))
      return ts.isSourceFile(node) ? exportsOf(symbol).flatMap(visible) : [node, ...bases.flatMap(shownOf)]
    })
  // Adds types that cannot be imported, but whose members users write and read all the same. The map grows during the iteration.
  for (const symbol of ids.keys()) {
    for (const type of shownOf(symbol).flatMap(typesIn)) {
      if (!ids.has(type) && visible(type).some(hasMembers)) ids.set(type, ids.size)
    }
  }

  /** Returns a declaration as it is written, without its docstring and its body. */
  function signatureOf(node) {
    const source = node.getSourceFile().text
    const indent = /[ \t]*$/.exec(source.slice(0, node.getStart()))[0]
    const written = (start, end) =>
      source
        .slice(start, end)
        .replace(/\/\*\*[\s\S]*?\*\/\s*|^\s*\/\/ .*\n|[ \t]+\/\/ .*$/gm, '')
        .replaceAll(`\n${indent}`, '\n')
        .trim()
    const upTo = (end) => written(node.getStart(), end).replace(/^(?:(?:export|declare|abstract|async|override) )+/, '')
    if (node.members !== undefined) {
      const calls = node.members.filter(
        (one) => ts.isCallSignatureDeclaration(one) || ts.isConstructSignatureDeclaration(one),
      )
      const lines = calls.map((one) => `  ${written(one.getStart(), one.end)}\n`)
      return upTo(node.members.pos - 1) + (lines.length > 0 ? ` {\n${lines.join('')}}` : '')
    }
    const value = node.initializer
    if (value === undefined) {
      // The value to which `typeof` refers is not public, but its type is.
      const found = ts.isTypeAliasDeclaration(node) && /\btypeof /.test(node.type.getText()) ? typeText(node) : ''
      if (shortened(found) === found && !['', 'any'].includes(found)) return `type ${node.name.text} = ${found}`
      if (node.body === undefined) return upTo(node.end).replace(/[;,]$/, '')
      const isTyped = node.type !== undefined || ts.isConstructorDeclaration(node) || ts.isSetAccessor(node)
      return upTo(node.body.getStart()) + (isTyped ? '' : `: ${resultText(node)}`)
    }
    const name = node.name.getText()
    const isConstant = ts.isVariableDeclaration(node)
    if (node.type === undefined && ts.isArrowFunction(value)) {
      const parameters = written(value.getStart(), value.type?.end ?? value.equalsGreaterThanToken.getStart())
      const result = value.type === undefined ? `: ${resultText(value)}` : ''
      return `${isConstant ? 'function ' : ''}${name}${parameters.replace(/^async /, '')}${result}`
    }
    const type = node.type === undefined ? shortened(typeText(node)) : written(node.type.getStart(), node.type.end)
    return `${isConstant ? 'const ' : ''}${name}: ${type}`
  }

  /** Returns what a base or an interface says about a member without a docstring of its own: editors show that, too. */
  function inheritedDoc(owner, name) {
    for (const base of (owner?.declarations ?? []).flatMap(basesOf)) {
      const own = (base.members?.get(name)?.declarations ?? []).map(docOf).find(({ text }) => text !== '')
      const doc = own ?? inheritedDoc(base, name)
      if (doc !== undefined) return doc
    }
    return undefined
  }

  function describe(name, nodes, owner) {
    const overloads = nodes.filter(({ body }) => body === undefined)
    const shown = nodes.length > 1 && overloads.length > 0 ? overloads : nodes
    const doc = nodes.map(docOf).find(({ text }) => text !== '') ?? inheritedDoc(owner, name) ?? docOf(nodes[0])
    const members = shown.flatMap(({ type }) => literalsIn(type).flatMap((literal) => membersOf(literal.members)))
    return { name, ...placeOf(shown[0]), doc, signatures: distinct(shown.map(signatureOf)), members }
  }

  function membersOf(nodes, owner) {
    const byName = new Map()
    for (const node of nodes) {
      const name = ts.isConstructorDeclaration(node) ? 'constructor' : node.name?.getText()
      if (name !== undefined && !isHidden(node)) byName.set(name, [...(byName.get(name) ?? []), node])
    }
    // An override inherits the docstring of its base, including `@internal`.
    return [...byName].map(([name, all]) => describe(name, all, owner)).filter(({ doc }) => !doc.isInternal)
  }

  /** Returns the members of a declaration; the members of a base that is not public are shown as its own. */
  function membersIn(node, symbol) {
    if (ts.isSourceFile(node)) return exportsOf(symbol).map((one) => describe(one.name, visible(one)))
    if (ts.isTypeAliasDeclaration(node)) return literalsIn(node.type).flatMap(({ members }) => membersOf(members))
    const own = membersOf(node.members ?? [], symbol)
    const hidden = basesOf(node).filter((base) => !isExported(base))
    const further = hidden.flatMap((base) => visible(base).flatMap((one) => membersIn(one, base)))
    return [...own, ...further.filter(({ name }) => !own.some((member) => member.name === name))]
  }

  const linked = files.filter(({ text }) => text.includes('{@link'))
  const links = linked.flatMap(linksIn).map((link) => {
    const symbol = link.name && symbolAt(link.name)
    return { ...placeOf(link), text: link.getText(), isBroken: symbol === undefined, target: ids.get(symbol) }
  })

  const names = [...ids].map(([symbol, id]) => {
    const nodes = visible(symbol)
    const isModule = ts.isSourceFile(nodes[0])
    const entryPoints = exported.get(symbol) ?? []
    const name = entryPoints[0]?.name ?? symbol.name
    const members = nodes.flatMap((node) => membersIn(node, symbol))
    const references = new Set(shownOf(symbol).flatMap((node) => [...basesOf(node), ...typesIn(node)]))
    references.delete(symbol)
    const described = describe(name, isModule ? [nodes[0].statements[0]] : nodes)
    if (isModule) described.signatures = [`namespace ${name}`]
    return {
      ...described,
      ...placeOf(nodes[0]),
      id,
      entryPoints,
      kind: kindOf(nodes[0]),
      members,
      references: [...references].flatMap((one) => ids.get(one) ?? []),
    }
  })
  return { names, links }
}

function kindOf(node) {
  if (ts.isClassDeclaration(node)) return 'class'
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return 'type'
  const isFunction = ts.isFunctionDeclaration(node) || (node.initializer && ts.isArrowFunction(node.initializer))
  return isFunction ? 'function' : 'value'
}

function linksIn(node) {
  const own = (node.jsDoc ?? []).flatMap(linksIn)
  const link = ts.isJSDocLink(node) ? [node] : []
  return [...link, ...own, ...childrenOf(node).flatMap(linksIn)]
}
