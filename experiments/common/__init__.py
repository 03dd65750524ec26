"""What the experiments share: their form, models, data, stored results and page."""
