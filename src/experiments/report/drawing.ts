/** The shapes of a figure, independent of its format. Places are in pixels from the upper left. */
export type DrawnShape =
  | { readonly kind: 'line'; readonly from: Place; readonly to: Place; readonly colour: string }
  | { readonly kind: 'disc'; readonly at: Place; readonly radius: number; readonly colour: string }
  | {
      readonly kind: 'box'
      readonly at: Place
      readonly width: number
      readonly height: number
      readonly colour: string
    }
  /** `at` is the left end, centre or right end of the text, vertically centred. */
  | {
      readonly kind: 'text'
      readonly at: Place
      readonly text: string
      readonly anchor: Anchor
      readonly colour: string
    }

export type Place = readonly [x: number, y: number]
export type Anchor = 'start' | 'middle' | 'end'

export interface Drawing {
  readonly width: number
  readonly height: number
  readonly title: string
  readonly shapes: readonly DrawnShape[]
}
