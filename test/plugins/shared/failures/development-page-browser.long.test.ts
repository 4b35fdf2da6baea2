// The same with all rules of axe at each width, and the contrast in the dark.
import './development-page-browser.test.ts'
