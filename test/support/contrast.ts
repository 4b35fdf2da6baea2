/** Runs in the page: what is written in a colour too near to that of its background (WCAG 2, AA). */
export function faintWords(): string[] {
  const parse = (color: string) => (color.match(/[\d.]+/g) ?? []).map(Number)
  const luminance = (color: string) => {
    const [red = 0, green = 0, blue = 0] = parse(color)
      .slice(0, 3)
      .map((value) => (value <= 10.31 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const backgroundOf = (element: Element | null): string => {
    if (element === null) return 'rgb(255, 255, 255)'
    const { backgroundColor } = getComputedStyle(element)
    const alpha = parse(backgroundColor)[3] ?? 1
    return alpha === 1 ? backgroundColor : backgroundOf(element.parentElement)
  }
  const found = new Set<string>()
  for (const element of document.querySelectorAll('body *')) {
    const isWritten = [...element.childNodes].some(({ nodeType, textContent }) => nodeType === 3 && textContent?.trim())
    if (!isWritten || !element.checkVisibility({ opacityProperty: true }) || element.closest('svg')) continue
    const [high = 0, low = 0] = [getComputedStyle(element).color, backgroundOf(element)]
      .map(luminance)
      .sort((a, b) => b - a)
    const ratio = (high + 0.05) / (low + 0.05)
    if (ratio < 4.5) found.add(`${element.tagName}.${element.className} ${ratio.toFixed(2)} ${element.textContent}`)
  }
  return [...found]
}
